// @ts-check
// The columns of one level: order by barycentre, x by pooled least squares, then straight lanes.
// Every step is linear in nodes and edges, and deterministic.

/** @typedef {import("./wiring.js").LevelWire} LevelWire */
/** @typedef {Pick<LevelWire, "a" | "b" | "oa" | "ob"> & Partial<LevelWire>} Wire */

const GAP_X = 22;
const SWEEPS = 6;
const ROUNDS = 10;
const ADDED_WEIGHT = 0.2;

/**
 * @param {Float64Array} widths @param {Int32Array} rank @param {number} ranks @param {Wire[]} wires
 * @param {[number, number][]} [hints] pairs without a wire that would like to stand near each other
 * @returns {{x: Float64Array, via: (Float64Array | null)[], width: number}} x are middles;
 *   via holds the x of a wire in each rank it passes
 */
export function placeItems(widths, rank, ranks, wires, hints = []) {
  const columns = new Columns(widths, rank, ranks);
  const lanes = columns.makeLanes(wires);
  for (const [a, b] of hints) if (rank[b] > rank[a]) columns.join(a, b, 0, ADDED_WEIGHT / 2);
  columns.order();
  const { w, n } = columns;
  const x = columns.place();
  columns.straighten(lanes, x);
  let x0 = Infinity,
    x1 = -Infinity;
  for (let i = 0; i < w.length; i++) {
    x0 = Math.min(x0, x[i] - w[i] / 2);
    x1 = Math.max(x1, x[i] + w[i] / 2);
  }
  for (let i = 0; i < w.length; i++) x[i] = Math.round((x[i] - x0) * 2) / 2;
  const via = lanes.map((lane) => (lane ? Float64Array.from(lane, (v) => x[v]) : null));
  return { x: x.subarray(0, n), via, width: w.length ? x1 - x0 : 0 };
}

/** Items in their ranks, and what stands for a wire in each rank it passes: a stretch of a lane. */
class Columns {
  /** @param {Float64Array} widths @param {Int32Array} rank @param {number} ranks */
  constructor(widths, rank, ranks) {
    /** from here on stretches of lanes */ this.n = widths.length;
    this.w = Array.from(widths);
    this.rank = Array.from(rank);
    /** @type {number[][]} flat triples: neighbour, offset, weight */ this.up = this.w.map(
      () => [],
    );
    /** @type {number[][]} */ this.down = this.w.map(() => []);
    /** @type {number[][]} by rank, from left to right */
    this.layers = Array.from({ length: ranks }, () => []);
    /** place of each in its layer */ this.pos = new Float64Array(0);
    /** where each would like to be in its layer */ this.key = new Float64Array(0);
  }

  /** @param {number} u @param {number} v below it @param {number} d @param {number} weight */
  join(u, v, d, weight) {
    this.down[u].push(v, -d, weight); // u wants x[v] - d
    this.up[v].push(u, d, weight); // v wants x[u] + d
  }

  /** @param {number} rank @returns {number} a stretch of a lane there */
  #stretch(rank) {
    this.rank.push(rank);
    this.up.push([]);
    this.down.push([]);
    return this.w.push(4) - 1;
  }

  /**
   * Wires that pass ranks run in lanes; wires from the same place share theirs.
   * @param {Wire[]} wires
   */
  makeLanes(wires) {
    const { rank } = this;
    /** @type {Map<string, number[]>} */
    const shared = new Map();
    return wires.map(({ a, b, oa, ob, added, through }, i) => {
      const first = rank[a] + 1;
      if (rank[b] <= first) {
        this.join(a, b, oa - ob, added ? ADDED_WEIGHT : 4);
        return null;
      }
      const key = added ? `added${i}` : `${a}:${oa}`;
      const chain = shared.get(key) ?? [];
      shared.set(key, chain);
      while (chain.length < rank[b] - first) {
        const reuse = through?.[chain.length] ?? -1;
        const v = reuse >= 0 ? reuse : this.#stretch(first + chain.length);
        const weight = added ? ADDED_WEIGHT : chain.length ? 3 : 2;
        if (reuse < 0) this.join(chain.at(-1) ?? a, v, chain.length ? 0 : oa, weight);
        chain.push(v);
      }
      const lane = chain.slice(0, rank[b] - first);
      this.join(lane[lane.length - 1], b, -ob, added ? ADDED_WEIGHT : 2);
      return lane;
    });
  }

  /** From left to right, so that few wires cross. */
  order() {
    this.#orderFirst();
    const { layers, up, down } = this;
    this.pos = new Float64Array(this.w.length);
    this.key = new Float64Array(this.w.length);
    for (const layer of layers) this.#number(layer);
    for (let s = 0; s < SWEEPS; s++) {
      if (s % 2 === 0) for (let r = 1; r < layers.length; r++) this.#sort(layers[r], up);
      else for (let r = layers.length - 2; r >= 0; r--) this.#sort(layers[r], down);
    }
  }

  /** As a walk down from the top meets them. */
  #orderFirst() {
    const { rank, up, down, layers } = this;
    const seen = new Uint8Array(rank.length);
    for (let s = 0; s < rank.length; s++) {
      if (seen[s] || up[s].length) continue;
      for (const stack = [s]; stack.length; ) {
        const u = /** @type {number} */ (stack.pop());
        if (seen[u]) continue;
        seen[u] = 1;
        layers[rank[u]].push(u);
        for (let j = down[u].length - 3; j >= 0; j -= 3)
          if (!seen[down[u][j]]) stack.push(down[u][j]);
      }
    }
    for (let u = 0; u < rank.length; u++) if (!seen[u]) layers[rank[u]].push(u);
  }

  /** @param {number[]} layer */
  #number(layer) {
    for (let i = 0; i < layer.length; i++) this.pos[layer[i]] = i;
  }

  /** By the middle of the neighbours in the layers above or below. @param {number[]} layer @param {number[][]} near */
  #sort(layer, near) {
    const { pos, key } = this;
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
    this.#number(layer);
  }

  /** The middle of each: as near to its neighbours as its layer has room. */
  place() {
    const { layers, w, up, down } = this;
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
      if (s % 2 === 0) for (let r = 1; r < layers.length; r++) this.#pool(layers[r], up, x);
      else for (let r = layers.length - 2; r >= 0; r--) this.#pool(layers[r], down, x);
    }
    return x;
  }

  /**
   * Pool adjacent violators: least squared displacement under the separations, O(layer).
   * @param {number[]} layer @param {number[][]} near @param {Float64Array} x
   */
  #pool(layer, near, x) {
    const { w, n } = this;
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
   * @param {(number[] | null)[]} lanes @param {Float64Array} x
   */
  straighten(lanes, x) {
    const { layers, pos, w, rank, n } = this;
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
        const layer = layers[rank[v]];
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
