// @ts-check
// The way of one wire through its level, in one pane: down, sideways in a gap, down.

import { TAG_ROW, TITLE_H } from "./metrics.js";

/** @typedef {import("./placement.js").Pen} Pen */
/** @typedef {import("./placement.js").Scratch} Scratch */

/**
 * @param {Pen} pen
 * @param {Level} level
 * @param {Scratch} s
 * @param {{i: number, ox: number, oy: number}} at
 */
export function emitWire(pen, level, s, { i, ox, oy }) {
  const wire = level.wires[i];
  let state = 0;
  let edge = -1;
  for (const p of wire.pairs)
    if (pen.pairState[p]) {
      state |= pen.pairState[p];
      edge = pen.pairEdge[p];
    }
  if (!state) return;
  const n = level.items.length;
  const { rank, x } = level;
  const fromPort = wire.a >= n;
  const toPort = wire.b >= n;
  if ((!fromPort && !s.item[wire.a]) || (!toPort && !s.item[wire.b])) return;
  const tag = toPort
    ? 0
    : pen.layout.tags.has(level.items[wire.b]) && !level.inner[wire.b]
      ? TAG_ROW
      : 0;
  let cx = ox + x[wire.a] + wire.oa;
  const start = fromPort ? oy : oy + s.top[rank[wire.a]] + s.item[wire.a];
  const end = toPort ? oy + s.h : oy + s.top[rank[wire.b]] + tag;
  const points = [cx, start];
  let below = fromPort
    ? oy + (level.group.parent ? TITLE_H : 0)
    : oy + s.top[rank[wire.a]] + s.height[rank[wire.a]];
  const via = wire.via;
  const tracks = /** @type {Float32Array} */ (wire.tracks);
  let gap = 0;
  const bend = (/** @type {number} */ nx, /** @type {number} */ until) => {
    if (Math.abs(nx - cx) < 2.5) return; // too little to bend for
    const ym = below + (until - below) * tracks[gap];
    points.push(cx, ym, nx, ym);
    cx = nx;
  };
  for (let j = 0; via && j < via.length; j++) {
    const r = rank[wire.a] + 1 + j;
    if (!s.height[r]) continue;
    bend(ox + via[j], oy + s.top[r]);
    below = oy + s.top[r] + s.height[r];
    gap = j + 1;
  }
  bend(ox + x[wire.b] + wire.ob, toPort ? end : oy + s.top[rank[wire.b]]);
  points.push(cx, end);
  pen.picture.wires.push({
    id: level.group.at * 65536 + i,
    points,
    arrow: !toPort && !wire.pb,
    state,
    pairs: wire.pairs,
    edge: fromPort || wire.pa ? -1 : edge,
    ...bounds(points),
  });
}

/** @param {number[]} points down from the first to the last */
function bounds(points) {
  let x0 = points[0],
    x1 = x0;
  for (let k = 2; k < points.length; k += 2) {
    x0 = Math.min(x0, points[k]);
    x1 = Math.max(x1, points[k]);
  }
  return { x0, x1, y0: points[1], y1: points[points.length - 1] };
}
