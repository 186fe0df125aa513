// @ts-check
// Between two pictures: where a box and a wire are at a moment of the animation.

/**
 * @param {Box} b
 * @param {Box | undefined} from where it was
 * @param {{x: number, y: number} | undefined} origin what it grows out of
 * @param {number} t
 */
export function boxBetween(b, from, origin, t) {
  if (from && from.kind === b.kind && from.occ === b.occ) {
    return {
      x: mix(from.x, b.x, t),
      y: mix(from.y, b.y, t),
      w: mix(from.w, b.w, t),
      h: mix(from.h, b.h, t),
      alpha: 1,
    };
  }
  if (!origin) return { x: b.x, y: b.y, w: b.w, h: b.h, alpha: t };
  const w = b.w * (0.3 + 0.7 * t);
  const h = b.h * (0.3 + 0.7 * t);
  const x = mix(origin.x, b.x + b.w / 2, t) - w / 2;
  const y = mix(origin.y, b.y + b.h / 2, t) - h / 2;
  return { x, y, w, h, alpha: t };
}

/**
 * Wires of the same shape glide with their boxes; new ones, and all after a fold, fade in.
 * @param {Picture} old
 * @param {Picture} now
 * @param {number} t
 * @returns {DrawnWire[]}
 */
export function wiresBetween(old, now, t) {
  const same = old.layout === now.layout;
  const before = new Map(same ? old.wires.map((w) => [w.id, w.points]) : []);
  return now.wires.map((wire) => {
    const was = before.get(wire.id);
    if (!was || was.length !== wire.points.length) return { ...wire, alpha: t };
    const points = wire.points.map((v, i) => mix(was[i], v, t));
    const shift = Math.abs(points[1] - wire.points[1]) + 40;
    return { ...wire, points, y0: wire.y0 - shift, y1: wire.y1 + shift };
  });
}

/** @param {number} a @param {number} b @param {number} t */
const mix = (a, b, t) => a + (b - a) * t;
