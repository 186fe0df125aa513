// @ts-check
// A film of an allocator: its events in typed arrays, and a replay that stands after one of them.
// No DOM here.

const KINDS = ["allocate", "reuse", "split", "grow", "free", "merge"];
export const NAIVE = 0;
export const LAZY = 1;
const FIRST_RELEASE = 4; // kinds from here on give memory back

/** @typedef {{offset: number, size: number}} Free */

export class AllocatorEvents {
  /** @param {FilmJson} json @param {string} key */
  constructor(json, key) {
    const { events, buffers } = json;
    this.json = json;
    this.key = key;
    this.count = events.kind.length;
    this.kind = Uint8Array.from(events.kind);
    this.buffer = Int32Array.from(events.buffer);
    this.offset = Float64Array.from(events.offset);
    /** Size of the lazy arena after k events; 0 stands before the first. */
    this.peak = Float64Array.from([0, ...events.peak]);
    /** What is allocated after k events. */
    this.used = Float64Array.from([0, ...events.used]);
    this.size = Float64Array.from(buffers.size);
    this.start = Int32Array.from(buffers.start);
    this.end = Int32Array.from(buffers.end);
    /** Place of the event at which a buffer comes, 1-based like all places. */
    this.born = new Int32Array(this.size.length).fill(this.count + 1);
    this.died = new Int32Array(this.size.length).fill(this.count + 1);
    for (let k = 1; k <= this.count; k++)
      (this.comes(k) ? this.born : this.died)[this.buffer[k - 1]] = k;
    /** @type {Float64Array[]} by lane and buffer */
    this.offsets = json.lanes.map((lane) => Float64Array.from(lane.offsets));
    /** @type {Float64Array[]} by lane: the highest byte used so far, after k events */
    this.highs = this.offsets.map((offsets) => this.#highs(offsets));
  }

  /** @param {Float64Array} offsets */
  #highs(offsets) {
    const highs = new Float64Array(this.count + 1);
    for (let k = 1; k <= this.count; k++) {
      const b = this.buffer[k - 1];
      const top = this.comes(k) ? offsets[b] + this.size[b] : 0;
      highs[k] = Math.max(highs[k - 1], top);
    }
    return highs;
  }

  /** Whether event k asks for memory; else it gives some back. @param {number} k */
  comes(k) {
    return this.kind[k - 1] < FIRST_RELEASE;
  }

  /** The node that makes a buffer. @param {number} b @returns {FilmJson["nodes"][0] | undefined} */
  maker(b) {
    return this.json.nodes[this.json.buffers.node[b]];
  }

  /** @param {number} k */
  kindOf(k) {
    return KINDS[this.kind[k - 1]];
  }

  /** Which node runs at event k; what is freed was read by it for the last time. @param {number} k */
  nodeAt(k) {
    if (k < 1) return -1;
    const b = this.buffer[k - 1];
    return this.comes(k) ? this.start[b] : this.end[b] - 1;
  }

  /** Free blocks that an event takes away. @param {number} k @returns {Free[]} */
  removed(k) {
    return pairs(this.json.events.removed[k - 1]);
  }

  /** Free blocks that an event brings. @param {number} k @returns {Free[]} */
  added(k) {
    return pairs(this.json.events.added[k - 1]);
  }

  /**
   * The first event of the node after or before the one that runs at k.
   * @param {number} k @param {1 | -1} way
   */
  nodeBy(k, way) {
    const node = this.nodeAt(k);
    let to = k + way;
    if (way > 0) {
      while (to < this.count && this.nodeAt(to) === node) to++;
      return Math.min(this.count, to);
    }
    const target = this.nodeAt(to);
    while (to > 1 && this.nodeAt(to - 1) === target) to--;
    return Math.max(0, to);
  }

  /** The first event while a node runs; 0 where it has none. @param {number} node */
  eventOf(node) {
    for (let k = 1; k <= this.count; k++) if (this.nodeAt(k) === node) return k;
    return 0;
  }

  /** The event after which the lazy arena is as large as it gets. */
  get climax() {
    return Math.max(0, this.peak.indexOf(this.peak[this.count]));
  }
}

/** @param {number[]} flat @returns {Free[]} */
function pairs(flat) {
  const list = [];
  for (let i = 0; i < flat.length; i += 2) list.push({ offset: flat[i], size: flat[i + 1] });
  return list;
}

/** The state after `at` events. Moving costs O(events passed), in both directions. */
export class Replay {
  /** @param {AllocatorEvents} events */
  constructor(events) {
    this.events = events;
    this.at = 0;
    /** @type {Set<number>} buffers */ this.live = new Set();
    /** @type {Map<number, number>} offset -> size of the lazy arena's free blocks */
    this.free = new Map();
  }

  /** @param {number} k */
  goto(k) {
    const target = Math.max(0, Math.min(this.events.count, k));
    while (this.at < target) this.#apply(++this.at, true);
    while (this.at > target) this.#apply(this.at--, false);
  }

  /** @param {number} k @param {boolean} forward */
  #apply(k, forward) {
    const { events } = this;
    const b = events.buffer[k - 1];
    if (events.comes(k) === forward) this.live.add(b);
    else this.live.delete(b);
    const gone = forward ? events.removed(k) : events.added(k);
    const come = forward ? events.added(k) : events.removed(k);
    for (const f of gone) this.free.delete(f.offset);
    for (const f of come) this.free.set(f.offset, f.size);
  }

  /** Free blocks, smallest first as the allocator keeps them. @returns {Free[]} */
  list() {
    return [...this.free]
      .map(([offset, size]) => ({ offset, size }))
      .sort((a, b) => a.size - b.size || a.offset - b.offset);
  }
}
