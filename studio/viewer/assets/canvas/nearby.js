// @ts-check
// Questions about what is drawn: which box is nearest to a height, what a wire carries, what is
// joined to a box.

/** @param {Picture} old @param {number} y @param {Picture} next */
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

/**
 * Pairs of boxes that an edge of the given boxes joins, and the boxes at their other ends.
 * @param {Session} s @param {Set<number>} keys
 */
export function neighbourhood(s, keys) {
  const { wiring, slots } = s.layout;
  const lit = new Set(),
    near = new Set();
  const hubKeys = new Set([...keys].filter((k) => k < slots));
  for (let p = 0; p < wiring.count; p++) {
    const from = keys.has(wiring.source[p]) || hubKeys.has(wiring.sourceSlot[p]);
    if (!from && !keys.has(wiring.target[p])) continue;
    lit.add(p);
    near.add(from ? wiring.target[p] : wiring.source[p]);
  }
  return { lit, near };
}
