// @ts-check
// The sideways places within one level: pooled least squares, then straight lanes.

const GAP_X = 22;
const ROUNDS = 10;

/**
 * @param {number[][]} layers
 * @param {number[]} w
 * @param {number[][]} up
 * @param {number[][]} down
 * @param {number} n
 */
export function assignX(layers, w, up, down, n) {
  const x = new Float64Array(w.length);
  for (const layer of layers) {
    let at = 0;
    for (const u of layer) {
      x[u] = at + w[u] / 2;
      at += w[u] + GAP_X;
    }
    for (const u of layer) x[u] -= (at - GAP_X) / 2;
  }
  for (let s = 0; s < ROUNDS; s++) {
    if (s % 2 === 0) for (let r = 1; r < layers.length; r++) pool(layers[r], w, up, x, n);
    else for (let r = layers.length - 2; r >= 0; r--) pool(layers[r], w, down, x, n);
  }
  return x;
}

/**
 * Where u would like to stand: in line with its most important neighbours.
 * @param {number[]} near
 * @param {Float64Array} x
 */
function wish(near, x) {
  let top = 0;
  for (let j = 2; j < near.length; j += 3) top = Math.max(top, near[j]);
  const at = [];
  for (let j = 0; j < near.length; j += 3)
    if (near[j + 2] === top) at.push(x[near[j]] + near[j + 1]);
  if (at.length === 1) return at[0];
  at.sort((a, b) => a - b);
  const m = at.length >> 1;
  return at.length & 1 ? at[m] : (at[m - 1] + at[m]) / 2;
}

/**
 * Pool adjacent violators: least squared displacement under the separations, O(layer).
 * @param {number[]} layer
 * @param {number[]} w
 * @param {number[][]} near
 * @param {Float64Array} x
 * @param {number} n
 */
function pool(layer, w, near, x, n) {
  /** @type {{want: number, weight: number, count: number}[]} */
  const pools = [];
  const offsets = [];
  let off = 0;
  for (const [i, u] of layer.entries()) {
    if (i) off += (w[layer[i - 1]] + w[u]) / 2 + GAP_X;
    offsets.push(off);
    const linked = near[u].length > 0;
    const weight = linked ? (u < n ? 100 : 1) : 0.1; // lanes make way for boxes
    const now = { want: (linked ? wish(near[u], x) : x[u]) - off, weight, count: 1 };
    for (let last = pools.at(-1); last && last.want >= now.want; last = pools.at(-1)) {
      now.want = (now.want * now.weight + last.want * last.weight) / (now.weight + last.weight);
      now.weight += last.weight;
      now.count += last.count;
      pools.pop();
    }
    pools.push(now);
  }
  let i = 0;
  for (const { want, count } of pools)
    for (let k = 0; k < count; k++, i++) x[layer[i]] = want + offsets[i];
}

/**
 * Lanes run straight as far as the boxes beside them leave room for it.
 * @param {(number[] | null)[]} lanes @param {number} n
 * @param {{layers: number[][], pos: Float64Array, w: number[], x: Float64Array, rk: number[]}} at
 */
export function straighten(lanes, n, { layers, pos, w, x, rk }) {
  const done = new Set();
  for (const lane of lanes) {
    /** @type {number[]} */
    let run = [];
    let low = -Infinity,
      high = Infinity;
    const settle = () => {
      if (!run.length) return;
      const want = run.map((v) => x[v]).sort((a, b) => a - b)[run.length >> 1];
      const to = Math.min(high, Math.max(low, want));
      for (const v of run) x[v] = to;
      run = [];
      low = -Infinity;
      high = Infinity;
    };
    for (const v of lane ?? []) {
      if (v < n || done.has(v)) {
        settle();
        continue;
      }
      done.add(v);
      const layer = layers[rk[v]];
      const left = layer[pos[v] - 1],
        right = layer[pos[v] + 1];
      const from = left === undefined ? -Infinity : x[left] + (w[left] + w[v]) / 2 + GAP_X / 2;
      const to = right === undefined ? Infinity : x[right] - (w[right] + w[v]) / 2 - GAP_X / 2;
      if (Math.max(low, from) > Math.min(high, to)) settle();
      low = Math.max(low, from);
      high = Math.min(high, to);
      run.push(v);
    }
    settle();
  }
}
