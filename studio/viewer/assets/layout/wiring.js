// @ts-check
// From edges between nodes to wires between the boxes that show, level by level, through ports in
// the borders of open groups.

import { ancestry } from "../trace/group.js";
import { append } from "../trace/lists.js";
import { INPUT } from "../trace/union.js";

/**
 * @typedef {object} LevelWire
 * @property {number} a @property {number} b places in the level's items, or ports
 * @property {string} pa @property {string} pb port of the open group at that end, or ""
 * @property {number} oa @property {number} ob where it leaves and enters, from the item's middle
 * @property {boolean} added not in the source graph: it must not bend what is
 * @property {Int32Array | null} through items whose place it takes in the ranks it passes, -1 = none
 * @property {number[]} pairs
 * @property {Float64Array | null} via x in each rank passed
 * @property {Float32Array | null} tracks where in each gap it runs sideways, 0 to 1
 */

const NEAR = 4; // ranks; a hub's close consumers keep their wire

const UNPLACED = { oa: 0, ob: 0, added: false, through: null, via: null, tracks: null };

export class Wiring {
  /** @param {Union} union @param {FoldTree} tree @param {Uint8Array} hubs */
  constructor(union, tree, hubs) {
    this.union = union;
    this.tree = tree;
    this.slots = union.occupants.length;
    /** @type {Int32Array} edge -> pair, -1 inside a closed group */
    this.pairOf = new Int32Array(union.from.length).fill(-1);
    /** @type {number[]} box */ this.source = [];
    /** @type {number[]} box */ this.target = [];
    /** @type {number[]} */ this.sourceSlot = [];
    /** @type {number[]} 1 = drawn as a stub */ this.stub = [];
    /** @type {number[]} step from which a pair has an edge */ this.born = [];
    /** @type {number[]} */ this.died = [];
    this.#collect(hubs);
    this.count = this.source.length;
    /** @type {Map<number, [number, number][]> | null} */
    this.hubEdges = null;
  }

  /** @param {Uint8Array} hubs */
  #collect(hubs) {
    const { union, tree } = this;
    const boxes = Int32Array.from({ length: this.slots }, (_, s) => tree.boxOf(s));
    const span = this.slots + tree.groups.length;
    /** @type {Map<number, number>} */
    const ids = new Map();
    for (let e = 0; e < union.from.length; e++) {
      const s = union.slotOf[union.from[e]];
      const t = union.slotOf[union.to[e]];
      const u = boxes[s];
      const v = boxes[t];
      if (u === v) continue;
      const near =
        union.kind[union.from[e]] !== INPUT && Math.abs(union.order[t] - union.order[s]) <= NEAR;
      const hub = hubs[s] === 1 && !near;
      const key = (hub ? span + s : u) * 16777216 + v;
      let p = ids.get(key);
      if (p === undefined) {
        p = this.source.length;
        ids.set(key, p);
        this.source.push(u);
        this.target.push(v);
        this.sourceSlot.push(s);
        this.stub.push(hub ? 1 : 0);
      }
      this.pairOf[e] = p;
      this.born[p] = Math.min(this.born[p] ?? Infinity, union.edgeBorn[e]);
      this.died[p] = Math.max(this.died[p] ?? 0, union.edgeDied[e]);
    }
  }

  /** Fill every level's ports and wires. @param {(Level | null)[]} levels */
  wire(levels) {
    /** @type {Map<string, number>[]} */
    const known = levels.map(() => new Map());
    for (const level of levels)
      if (level) {
        level.ports = new Map();
        level.wires = [];
      }
    for (let p = 0; p < this.count; p++) if (!this.stub[p]) this.#route(p, levels, known);
  }

  /** Groups around a box, outermost first. @param {number} box */
  #around(box) {
    const { groupOf, groups } = this.tree;
    const home = box < this.slots ? groupOf[box] : groups[box - this.slots].parent;
    return [...ancestry(home)].reverse();
  }

  /** @param {number} p @param {(Level | null)[]} levels @param {Map<string, number>[]} known */
  #route(p, levels, known) {
    const u = this.source[p];
    const v = this.target[p];
    const up = this.#around(u);
    const down = this.#around(v);
    let common = 0;
    while (common < up.length && common < down.length && up[common] === down[common]) common++;
    const levelOf = (/** @type {Group} */ g) => /** @type {Level} */ (levels[g.at]);
    let box = u;
    let leaving = "";
    for (let i = up.length - 1; i >= common; i--) {
      const level = levelOf(up[i]);
      const name = `>${u}`;
      this.#add(level, known, p, [level.at(box), level.port(name), leaving, ""]);
      leaving = name;
      box = this.slots + up[i].at;
    }
    const meet = levelOf(up[common - 1]);
    const entry = `<${u}`;
    const inside = down.length > common;
    const end = inside ? this.slots + down[common].at : v;
    this.#add(meet, known, p, [meet.at(box), meet.at(end), leaving, inside ? entry : ""]);
    for (let i = common; i < down.length; i++) {
      const level = levelOf(down[i]);
      const deeper = i + 1 < down.length;
      const next = deeper ? this.slots + down[i + 1].at : v;
      this.#add(level, known, p, [level.port(entry), level.at(next), "", deeper ? entry : ""]);
    }
  }

  /**
   * @param {Level} level
   * @param {Map<string, number>[]} known
   * @param {number} p
   * @param {[number, number, string, string]} ends
   */
  #add(level, known, p, [a, b, pa, pb]) {
    const key = `${a},${b},${pa},${pb}`;
    const map = known[level.group.at];
    let i = map.get(key);
    if (i === undefined) {
      i = level.wires.length;
      map.set(key, i);
      level.wires.push({ a, b, pa, pb, ...UNPLACED, pairs: [] });
    }
    level.wires[i].pairs.push(p);
  }

  /**
   * Wires first, so that their places match; then what only constrains ranks.
   * @param {Level} level
   * @returns {[number, number][]}
   */
  rankEdges(level) {
    const only = this.#hubEdges().get(level.group.at) ?? [];
    return [
      ...level.wires.map((w) => /** @type {[number, number]} */ ([w.a, w.b])),
      ...only.map(([u, v]) => /** @type {[number, number]} */ ([level.at(u), level.at(v)])),
    ];
  }

  /** Where a producer without wires would stand: above its first consumer. @param {Level} level */
  hints(level) {
    /** @type {Map<number, number>} */
    const first = new Map();
    for (const [u, v] of this.#hubEdges().get(level.group.at) ?? []) {
      const [a, b] = [level.at(u), level.at(v)];
      const known = first.get(a);
      if (known === undefined || level.rank[b] < level.rank[known]) first.set(a, b);
    }
    return [...first];
  }

  /** Stubbed pairs still say who comes first, where both ends share a level. */
  #hubEdges() {
    if (this.hubEdges) return this.hubEdges;
    this.hubEdges = new Map();
    for (let p = 0; p < this.count; p++) {
      if (!this.stub[p]) continue;
      const up = [...this.#around(this.source[p]).map((g) => this.slots + g.at), this.source[p]];
      const down = [...this.#around(this.target[p]).map((g) => this.slots + g.at), this.target[p]];
      let i = 0;
      while (i < up.length && i < down.length && up[i] === down[i]) i++;
      if (i >= up.length || i >= down.length) continue;
      const level = up[i - 1] - this.slots;
      append(this.hubEdges, level, /** @type {[number, number]} */ ([up[i], down[i]]));
    }
    return this.hubEdges;
  }
}
