// @ts-check
// One level of the drawing: ranks by longest path, order by barycentre, x by pooled least squares.
// Every step is linear in nodes and edges, and deterministic.

import { assignX, straighten } from "./columns.js";

const SWEEPS = 6;

/**
 * Ranks for items 0..n-1. Items with pin -1 stand in rank 0, pin +1 in the last rank, others between.
 * @param {number} n @param {[number, number][]} edges @param {Int8Array} pin
 * @returns {{rank: Int32Array, ranks: number, back: Uint8Array}} back marks edges against the flow
 */
export function rankItems(n, edges, pin) {
  const { out, inn } = adjacency(n, edges);
  const { queue, at } = topological(n, edges, out, inn);
  const back = new Uint8Array(edges.length);
  edges.forEach(([a, b], e) => {
    if (at[a] >= at[b]) back[e] = 1;
  });
  const rank = new Int32Array(n);
  for (let i = 0; i < n; i++) if (pin[i] >= 0) rank[i] = 1;
  for (const u of queue)
    for (const e of out[u])
      if (!back[e]) rank[edges[e][1]] = Math.max(rank[edges[e][1]], rank[u] + 1);
  for (let k = n - 1; k >= 0; k--) {
    const u = queue[k];
    if (pin[u] || !out[u].length || inn[u].length > out[u].length) continue;
    let low = Infinity;
    for (const e of out[u])
      if (!back[e] && pin[edges[e][1]] <= 0) low = Math.min(low, rank[edges[e][1]]);
    if (low !== Infinity && low - 1 > rank[u]) rank[u] = low - 1;
  }
  let last = 1;
  for (let i = 0; i < n; i++) if (pin[i] <= 0) last = Math.max(last, rank[i] + 1);
  for (let i = 0; i < n; i++) if (pin[i] > 0) rank[i] = last;
  return { rank, ranks: last + 1, back };
}

/** @param {number} n @param {[number, number][]} edges */
function adjacency(n, edges) {
  /** @type {number[][]} */ const out = Array.from({ length: n }, () => []);
  /** @type {number[][]} */ const inn = Array.from({ length: n }, () => []);
  edges.forEach(([a, b], e) => {
    out[a].push(e);
    inn[b].push(e);
  });
  return { out, inn };
}

/**
 * Kahn's order; folding can close a cycle, then the earliest item in the list goes first.
 * @param {number} n
 * @param {[number, number][]} edges
 * @param {number[][]} out
 * @param {number[][]} inn
 */
function topological(n, edges, out, inn) {
  const left = Int32Array.from(inn, (l) => l.length);
  const at = new Int32Array(n).fill(-1);
  /** @type {number[]} */
  const queue = [];
  let stuck = 0;
  const done = new Uint8Array(n);
  const put = (/** @type {number} */ u) => {
    if (!done[u]) {
      done[u] = 1;
      at[u] = queue.push(u) - 1;
    }
  };
  for (let i = 0; i < n; i++) if (!left[i]) put(i);
  for (let h = 0; queue.length < n || h < queue.length; ) {
    if (h === queue.length) {
      while (done[stuck]) stuck++;
      put(stuck);
      continue;
    }
    for (const e of out[queue[h++]]) if (--left[edges[e][1]] === 0) put(edges[e][1]);
  }
  return { queue, at };
}

/** @typedef {import("./wiring.js").LevelWire} LevelWire */
/** @typedef {Pick<LevelWire, "a" | "b" | "oa" | "ob"> & Partial<LevelWire>} Wire */

const ADDED_WEIGHT = 0.2;

/**
 * @param {Float64Array} widths @param {Int32Array} rank @param {number} ranks @param {Wire[]} wires
 * @param {[number, number][]} [hints] pairs without a wire that would like to stand near each other
 * @returns {{x: Float64Array, via: (Float64Array | null)[], width: number}} x are middles;
 *   via holds the x of a wire in each rank it passes
 */
export function placeItems(widths, rank, ranks, wires, hints = []) {
  const n = widths.length;
  const w = Array.from(widths);
  const rk = Array.from(rank);
  /** @type {number[][]} flat triples: neighbour, offset, weight */ const up = w.map(() => []);
  /** @type {number[][]} */ const down = w.map(() => []);
  const join = (
    /** @type {number} */ u,
    /** @type {number} */ v,
    /** @type {number} */ d,
    /** @type {number} */ weight,
  ) => {
    down[u].push(v, -d, weight); // u wants x[v] - d
    up[v].push(u, d, weight); // v wants x[u] + d
  };
  const lanes = makeLanes(
    wires,
    rank,
    (r) => {
      w.push(4);
      rk.push(r);
      up.push([]);
      down.push([]);
      return w.length - 1;
    },
    join,
  );
  for (const [a, b] of hints) if (rank[b] > rank[a]) join(a, b, 0, ADDED_WEIGHT / 2);
  /** @type {number[][]} */
  const layers = Array.from({ length: ranks }, () => []);
  initialOrder(rk, up, down, layers);
  const pos = new Float64Array(w.length);
  orderLayers(layers, up, down, pos);
  const x = assignX(layers, w, up, down, n);
  straighten(lanes, n, { layers, pos, w, x, rk });
  let x0 = Infinity,
    x1 = -Infinity;
  for (let i = 0; i < w.length; i++) {
    x0 = Math.min(x0, x[i] - w[i] / 2);
    x1 = Math.max(x1, x[i] + w[i] / 2);
  }
  if (!w.length) {
    x0 = 0;
    x1 = 0;
  }
  for (let i = 0; i < w.length; i++) x[i] = Math.round((x[i] - x0) * 2) / 2;
  const via = lanes.map((lane) => (lane ? Float64Array.from(lane, (v) => x[v]) : null));
  return { x: x.subarray(0, n), via, width: x1 - x0 };
}

/**
 * Wires that pass ranks run in lanes; wires from the same place share theirs.
 * @param {Wire[]} wires @param {Int32Array} rank
 * @param {(r: number) => number} make
 * @param {(u: number, v: number, d: number, weight: number) => void} join
 */
function makeLanes(wires, rank, make, join) {
  /** @type {Map<string, number[]>} */
  const shared = new Map();
  /** @type {(number[] | null)[]} */
  const lanes = new Array(wires.length).fill(null);
  wires.forEach(({ a, b, oa, ob, added, through }, i) => {
    const first = rank[a] + 1;
    if (rank[b] <= first) {
      join(a, b, oa - ob, added ? ADDED_WEIGHT : 4);
      return;
    }
    const key = added ? `added${i}` : `${a}:${oa}`;
    let chain = shared.get(key);
    if (!chain) {
      chain = [];
      shared.set(key, chain);
    }
    while (chain.length < rank[b] - first) {
      const reuse = through?.[chain.length] ?? -1;
      const v = reuse >= 0 ? reuse : make(first + chain.length);
      const before = chain.length ? chain[chain.length - 1] : a;
      if (reuse < 0)
        join(before, v, chain.length ? 0 : oa, added ? ADDED_WEIGHT : chain.length ? 3 : 2);
      chain.push(v);
    }
    lanes[i] = chain.slice(0, rank[b] - first);
    join(lanes[i][lanes[i].length - 1], b, -ob, added ? ADDED_WEIGHT : 2);
  });
  return lanes;
}

/**
 * @param {number[]} rk
 * @param {number[][]} up
 * @param {number[][]} down
 * @param {number[][]} layers
 */
function initialOrder(rk, up, down, layers) {
  const seen = new Uint8Array(rk.length);
  for (let s = 0; s < rk.length; s++) {
    if (seen[s] || up[s].length) continue;
    for (const stack = [s]; stack.length; ) {
      const u = /** @type {number} */ (stack.pop());
      if (seen[u]) continue;
      seen[u] = 1;
      layers[rk[u]].push(u);
      for (let j = down[u].length - 3; j >= 0; j -= 3)
        if (!seen[down[u][j]]) stack.push(down[u][j]);
    }
  }
  for (let u = 0; u < rk.length; u++) if (!seen[u]) layers[rk[u]].push(u);
}

/**
 * @param {number[][]} layers
 * @param {number[][]} up
 * @param {number[][]} down
 * @param {Float64Array} pos
 */
function orderLayers(layers, up, down, pos) {
  const key = new Float64Array(pos.length);
  const number = (/** @type {number[]} */ layer) =>
    layer.forEach((u, i) => {
      pos[u] = i;
    });
  const sort = (/** @type {number[]} */ layer, /** @type {number[][]} */ near) => {
    if (layer.length < 2) return;
    for (const u of layer) {
      let sum = 0,
        weight = 0;
      for (let j = 0; j < near[u].length; j += 3) {
        const w = near[u][j + 2] < 1 ? ADDED_WEIGHT : 1;
        sum += pos[near[u][j]] * w;
        weight += w;
      }
      key[u] = weight ? sum / weight : pos[u];
    }
    layer.sort((a, b) => key[a] - key[b] || pos[a] - pos[b]);
    number(layer);
  };
  layers.forEach(number);
  for (let s = 0; s < SWEEPS; s++) {
    if (s % 2 === 0) for (let r = 1; r < layers.length; r++) sort(layers[r], up);
    else for (let r = layers.length - 2; r >= 0; r--) sort(layers[r], down);
  }
}
