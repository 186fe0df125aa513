// @ts-check
// Which height of one picture stands for which of another, by the boxes that both show.

/** Monotone, piecewise linear map between the heights of two pictures. */
export class HeightMap {
  /** @param {Picture} a @param {Picture} b */
  constructor(a, b) {
    const pairs = [];
    for (const box of a.boxes) {
      const other = box.kind === "open" ? undefined : b.byKey.get(box.key);
      if (other && other.kind !== "open") pairs.push([box.y + box.h / 2, other.y + other.h / 2]);
    }
    pairs.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    /** @type {number[]} */ this.a = [];
    /** @type {number[]} */ this.b = [];
    let top = -Infinity;
    for (const [ya, yb] of pairs) {
      if (this.a.length && ya - this.a[this.a.length - 1] < 0.5) continue;
      top = Math.max(top + 0.01, yb);
      this.a.push(ya);
      this.b.push(top);
    }
  }

  /** @param {number} y */
  forward(y) {
    return interpolate(this.a, this.b, y);
  }

  /** @param {number} y */
  backward(y) {
    return interpolate(this.b, this.a, y);
  }
}

/** @param {number[]} from @param {number[]} to @param {number} y */
function interpolate(from, to, y) {
  const n = from.length;
  if (!n) return y;
  if (y <= from[0]) return to[0] + y - from[0];
  if (y >= from[n - 1]) return to[n - 1] + y - from[n - 1];
  let low = 0,
    high = n - 1;
  while (high - low > 1) {
    const mid = (low + high) >> 1;
    if (from[mid] <= y) low = mid;
    else high = mid;
  }
  const t = (y - from[low]) / (from[high] - from[low]);
  return to[low] + t * (to[high] - to[low]);
}
