// @ts-check
// The rows of one level: ranks by longest path. Linear in nodes and edges, and deterministic.

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
