// @ts-check
// One pane's picture: which boxes of the layout show, how high they stand, how the wires run.
// Ranks in which nothing shows take no height; sideways places come from the layout unchanged.

import { append } from "../trace/lists.js";
import { GROUP_H, PAD, TAG_ROW, TITLE_H } from "./metrics.js";

/**
 * @typedef {object} PaneState what a pane shows
 * @property {(slot: number) => number} occupant -1 = nothing there
 * @property {(o: number) => NodeRecord} record
 * @property {Int32Array} groupCount nodes alive below each group
 * @property {(edge: number) => number} edge 0 = absent, 1 = before only, 2 = after only, 3 = both
 */

/**
 * @typedef {object} Box
 * @property {number} key slot, or slots + group index
 * @property {"node" | "closed" | "open"} kind
 * @property {number} occ occupant, or -1
 * @property {NodeRecord | null} rec
 * @property {Group | null} group
 * @property {number} x left @property {number} y top @property {number} w @property {number} h
 */

/**
 * @typedef {object} DrawnWire
 * @property {number} id stable while the fold does not change
 * @property {number[]} points x, y, x, y, …
 * @property {boolean} arrow
 * @property {number} state as PaneState.edge
 * @property {number[]} pairs
 * @property {number} [alpha] while it fades in
 * @property {number} edge an edge it stands for, for its label, or -1
 * @property {number} x0 @property {number} y0 @property {number} x1 @property {number} y1 bounds
 */

/** @typedef {{tag: import("./layout.js").Tag, more: number, label: string, x: number, y: number, w: number, box: number}} DrawnTag */

export class Picture {
  /** @param {Layout} layout @param {number} height */
  constructor(layout, height) {
    this.layout = layout;
    this.width = layout.root.width;
    this.height = height;
    /** @type {Box[]} parents before children */ this.boxes = [];
    /** @type {Map<number, Box>} */ this.byKey = new Map();
    /** @type {DrawnWire[]} */ this.wires = [];
    /** @type {DrawnTag[]} */ this.tags = [];
    /** @type {{x: number, y: number, label: string, box: number, edge: number}[]} below producers whose output goes to stubs */
    this.stubs = [];
    /** boxes that are not open groups */ this.nodes = 0;
  }
}

/**
 * @typedef {{top: Float64Array, height: Float64Array, item: Float64Array, h: number, inner:
 * (Scratch | null)[]}} Scratch
 */

/** What holds all these boxes. @param {Box[]} boxes */
export const hull = (boxes) => ({
  x0: Math.min(...boxes.map((b) => b.x)),
  y0: Math.min(...boxes.map((b) => b.y)),
  x1: Math.max(...boxes.map((b) => b.x + b.w)),
  y1: Math.max(...boxes.map((b) => b.y + b.h)),
});

/** @param {Layout} layout @param {PaneState} state @returns {Picture} */
export function placePane(layout, state) {
  const pairState = new Uint8Array(layout.wiring.count);
  const pairEdge = new Int32Array(layout.wiring.count).fill(-1);
  const { pairOf } = layout.wiring;
  for (let e = 0; e < pairOf.length; e++) {
    if (pairOf[e] < 0) continue;
    const s = state.edge(e);
    if (s) {
      pairState[pairOf[e]] |= s;
      pairEdge[pairOf[e]] = e;
    }
  }
  const scratch = measure(layout, layout.root, state);
  const picture = new Picture(layout, scratch.h);
  const pen = { layout, state, picture, pairState, pairEdge };
  emit(pen, layout.root, scratch, 0, 0);
  emitStubs(pen);
  for (const b of picture.boxes) {
    picture.byKey.set(b.key, b);
    if (b.kind !== "open") picture.nodes++;
  }
  return picture;
}

/** @param {Layout} layout @param {Level} level @param {PaneState} state @returns {Scratch} */
function measure(layout, level, state) {
  const { items, ranks } = level;
  const height = new Float64Array(ranks);
  const item = new Float64Array(items.length);
  /** @type {(Scratch | null)[]} */
  const inner = new Array(items.length).fill(null);
  for (let i = 0; i < items.length; i++) {
    const child = level.inner[i];
    let h = 0;
    if (child) {
      if (state.groupCount[child.group.at] > 0) {
        inner[i] = measure(layout, child, state);
        h = /** @type {Scratch} */ (inner[i]).h;
      }
    } else h = itemHeight(layout, items[i], state);
    item[i] = h;
    if (h > height[level.rank[i]]) height[level.rank[i]] = h;
  }
  const grouped = level.group.parent !== null;
  const top = new Float64Array(ranks);
  let y = grouped ? TITLE_H + (level.ports.size ? 12 : 6) : 0;
  let last = -1;
  for (let r = 0; r < ranks; r++) {
    if (!height[r]) {
      top[r] = y;
      continue;
    }
    if (last >= 0) y += Math.max(level.gaps[last], level.gaps[r - 1]);
    top[r] = y;
    y += height[r];
    last = r;
  }
  return { top, height, item, inner, h: last < 0 ? 0 : y + (grouped ? PAD : 0) };
}

/** @param {Layout} layout @param {number} box @param {PaneState} state */
function itemHeight(layout, box, state) {
  const tags = layout.tags.has(box) ? TAG_ROW : 0;
  if (box >= layout.slots) return state.groupCount[box - layout.slots] > 0 ? GROUP_H + tags : 0;
  const o = state.occupant(box);
  return o < 0 ? 0 : layout.metrics.nodeHeight(state.record(o)) + tags;
}

/**
 * @typedef {{layout: Layout, state: PaneState, picture: Picture, pairState: Uint8Array, pairEdge:
 * Int32Array}} Pen
 */

/**
 * @param {Pen} pen
 * @param {Level} level
 * @param {Scratch} s
 * @param {number} ox
 * @param {number} oy
 */
function emit(pen, level, s, ox, oy) {
  const { layout, picture } = pen;
  for (let i = 0; i < level.items.length; i++) {
    if (!s.item[i]) continue;
    const box = level.items[i];
    const y = oy + s.top[level.rank[i]];
    const mid = ox + level.x[i];
    const inner = s.inner[i];
    if (inner) {
      const child = /** @type {Level} */ (level.inner[i]);
      const x = mid - child.width / 2;
      const place = { x, y, w: child.width, h: inner.h };
      const what = { key: box, kind: /** @type {"open"} */ ("open"), group: child.group };
      picture.boxes.push({ ...what, occ: -1, rec: null, ...place });
      emit(pen, child, inner, x, y);
      continue;
    }
    const tagged = layout.tags.has(box) ? TAG_ROW : 0;
    picture.boxes.push(makeBox(pen, box, mid, y + tagged, s.item[i] - tagged));
    if (tagged) emitTags(pen, box, mid, y);
  }
  for (let i = 0; i < level.wires.length; i++) emitWire(pen, level, s, { i, ox, oy });
}

/**
 * @param {Pen} pen
 * @param {number} box
 * @param {number} mid
 * @param {number} y
 * @param {number} h
 * @returns {Box}
 */
function makeBox(pen, box, mid, y, h) {
  const { layout, state } = pen;
  if (box >= layout.slots) {
    const group = layout.tree.groups[box - layout.slots];
    const w = layout.metrics.groupWidth(group);
    return { key: box, kind: "closed", occ: -1, rec: null, group, x: mid - w / 2, y, w, h };
  }
  const occ = state.occupant(box);
  const rec = state.record(occ);
  const w = layout.metrics.nodeWidth(rec);
  return { key: box, kind: "node", occ, rec, group: null, x: mid - w / 2, y, w, h };
}

/**
 * Stubs left and right of the middle, where wires come in; what does not fit is counted.
 * @param {Pen} pen
 * @param {number} box
 * @param {number} mid
 * @param {number} y
 */
function emitTags(pen, box, mid, y) {
  const alive = (pen.layout.tags.get(box) ?? []).filter((t) => pen.pairState[t.pair]);
  alive.slice(0, 2).forEach((tag, k) => {
    const more = k === 1 ? alive.length - 2 : 0;
    const w = tag.width;
    const x = k === 0 ? mid - 8 - w : mid + 8;
    pen.picture.tags.push({ tag, more, label: tag.label, x, y, w, box });
  });
}

/** Below a producer: to how many boxes its output goes by stub. @param {Pen} pen */
function emitStubs({ layout, picture, pairState, pairEdge }) {
  const { wiring } = layout;
  /** @type {Map<number, number[]>} */
  const uses = new Map();
  for (let p = 0; p < wiring.count; p++)
    if (wiring.stub[p] && pairState[p]) append(uses, wiring.source[p], pairEdge[p]);
  for (const b of picture.boxes) {
    const edges = uses.get(b.key);
    if (!edges) continue;
    const label = `→ ${edges.length}`;
    picture.stubs.push({ x: b.x + b.w / 2, y: b.y + b.h, label, box: b.key, edge: edges[0] });
  }
}

/**
 * The way of one wire through its level: down, sideways in a gap, down.
 * @param {Pen} pen
 * @param {Level} level
 * @param {Scratch} s
 * @param {{i: number, ox: number, oy: number}} at
 */
function emitWire(pen, level, s, { i, ox, oy }) {
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
