// @ts-check
// Two questions about what is drawn: which box is nearest to a height, what a wire carries.

/** @typedef {import("./session.js").Session} Session */

/**
 * @param {import("./place.js").Picture} old
 * @param {number} y
 * @param {import("./place.js").Picture} next
 */
export function nearest(old, y, next) {
  let key = -1,
    best = Infinity;
  for (const b of old.boxes) {
    if (b.kind === "open" || !next.byKey.has(b.key)) continue;
    const d = Math.abs(b.y + b.h / 2 - y);
    if (d < best) {
      best = d;
      key = b.key;
    }
  }
  return key;
}

/** @param {Session} s @param {number} e */
export function edgeLabel(s, e) {
  const rec = s.history.record(s.union.from[e], s.step);
  return rec.out?.[s.union.fromPort[e]]?.[3] ?? "";
}
