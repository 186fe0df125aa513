// @ts-check
// The folded layout of the union: every open group is one level, laid out alone, bottom-up, and
// then
// one box in its parent. Gives the sideways places once; heights are found per pane (placement.js).

import { append } from "../trace/lists.js";
import { INPUT } from "../trace/union.js";
import { GAP_Y, PAD } from "./metrics.js";
import { placeItems } from "./columns.js";
import { rankItems } from "./ranks.js";
import { throughGaps } from "./gaps.js";
import { assignTracks } from "./tracks.js";
import { Wiring } from "./wiring.js";

/** What is drawn inside one open group, laid out in coordinates of its own. */
export class Level {
  /** @param {Group} group @param {number[]} items boxes in it: slots, and slots + group index */
  constructor(group, items) {
    this.group = group;
    this.items = items;
    /** box -> place in items */ this.local = new Map(items.map((box, i) => [box, i]));
    /** @type {Int32Array} of items, then of ports */ this.rank = new Int32Array(0);
    this.ranks = 0;
    /** @type {number[][]} items by rank */ this.rows = [];
    /** @type {Float64Array} middles of items, then of ports */ this.x = new Float64Array(0);
    /** with padding */ this.width = 0;
    /** @type {Map<string, number>} */ this.ports = new Map();
    /** @type {import("./wiring.js").LevelWire[]} */ this.wires = [];
    /** @type {Float64Array} height of the space below each rank */ this.gaps = new Float64Array(0);
    /** @type {(Level | null)[]} level of each item that is an open group */ this.inner = [];
  }

  /** Place of a box among the items. @param {number} box */
  at(box) {
    return /** @type {number} */ (this.local.get(box));
  }

  /** Place of a port, made where there is none. @param {string} name */
  port(name) {
    const place = this.ports.get(name) ?? this.items.length + this.ports.size;
    this.ports.set(name, place);
    return place;
  }
}

const LONG = 12; // ranks; a wire many share is a stub beyond this
const LONGEST = 48; // rows of boxes, those inside open groups counted; any wire is

/**
 * @typedef {object} Tag a stub at a consumer instead of a long wire
 * @property {number} pair
 * @property {number} box consumer
 * @property {number} source slot of the producer
 * @property {string} label @property {number} width
 */

export class Layout {
  /**
   * @param {Union} union
   * @param {FoldTree} tree
   * @param {Metrics} metrics
   * @param {Uint8Array} hubs
   */
  constructor(union, tree, metrics, hubs) {
    this.union = union;
    this.tree = tree;
    this.metrics = metrics;
    this.slots = union.occupants.length;
    this.wiring = new Wiring(union, tree, hubs);
    /** @type {Map<number, Tag[]>} */
    this.tags = new Map();
    /** @type {(Level | null)[]} by group */
    this.levels = tree.groups.map((g) => (tree.shut[g.at] < 0 ? this.#newLevel(g) : null));
    this.#rank();
    this.#makeTags();
    this.root = this.#place(tree.root);
  }

  /** @param {Group} g @returns {Level} */
  #newLevel(g) {
    const boxes = [...g.slots, ...g.kids.map((k) => this.slots + k.at)];
    const key = new Map(boxes.map((b) => [b, this.#listPlace(b)]));
    boxes.sort((a, b) => /** @type {number} */ (key.get(a)) - /** @type {number} */ (key.get(b)));
    return new Level(g, boxes);
  }

  /** @param {number} box @returns {number} */
  #listPlace(box) {
    if (box < this.slots) return this.union.order[box];
    const g = this.tree.groups[box - this.slots];
    let first = g.slots.length ? this.union.order[g.slots[0]] : Infinity;
    for (const k of g.kids) first = Math.min(first, this.#listPlace(this.slots + k.at));
    return first;
  }

  /** Rank every level with all wires, turn what is too long into stubs, then wire for real. */
  #rank() {
    const { wiring } = this;
    wiring.wire(this.levels);
    for (const level of this.levels) {
      if (!level) continue;
      const n = level.items.length;
      const edges = wiring.rankEdges(level);
      const pin = new Int8Array(n + level.ports.size);
      for (const [name, p] of level.ports) pin[p] = name[0] === "<" ? -1 : 1;
      const { rank, ranks, back } = rankItems(pin.length, edges, pin);
      level.rank = rank;
      level.ranks = Math.max(ranks, 2);
      level.rows = Array.from({ length: level.ranks }, () => []);
      for (let i = 0; i < n; i++) level.rows[rank[i]].push(i);
      this.#cutShared(level, back);
    }
    this.#cutLong();
    for (const level of this.levels)
      if (level) level.rank = level.rank.subarray(0, level.items.length);
    wiring.hubEdges = null;
    wiring.wire(this.levels);
  }

  /** @param {Level} level @param {Uint8Array} back */
  #cutShared(level, back) {
    const far = new Map();
    const span = (/** @type {import("./wiring.js").LevelWire} */ w) =>
      level.rank[w.b] - level.rank[w.a];
    for (const w of level.wires) if (span(w) > LONG) far.set(w.a, (far.get(w.a) ?? 0) + 1);
    level.wires.forEach((w, i) => {
      const s = span(w);
      if (back[i] || s <= 0 || (s > LONG && far.get(w.a) > 2))
        for (const p of w.pairs) this.wiring.stub[p] = 1;
    });
  }

  /** A wire past so many rows shows neither end, wherever one looks. */
  #cutLong() {
    const { wiring } = this;
    const rows = rowsOfBoxes(this);
    for (let p = 0; p < wiring.count; p++) {
      const from = rows.get(wiring.source[p]);
      const to = rows.get(wiring.target[p]);
      if (from !== undefined && to !== undefined && to - from > LONGEST) wiring.stub[p] = 1;
    }
  }

  #makeTags() {
    const { union, wiring, metrics } = this;
    for (let p = 0; p < wiring.count; p++) {
      if (!wiring.stub[p]) continue;
      const box = wiring.target[p];
      const source = wiring.sourceSlot[p];
      const label = tagLabel(union, union.occupants[source][0]);
      const tag = { pair: p, box, source, label, width: metrics.tagWidth(label) };
      append(this.tags, box, tag);
    }
  }

  /** @param {Group} g @returns {Level} */
  #place(g) {
    const level = /** @type {Level} */ (this.levels[g.at]);
    const { items, ports } = level;
    const n = items.length;
    const total = n + ports.size;
    level.inner = items.map((box) => {
      const kid = box >= this.slots ? this.tree.groups[box - this.slots] : null;
      return kid && this.tree.open[kid.at] ? this.#place(kid) : null;
    });
    const rank = new Int32Array(total);
    rank.set(level.rank);
    for (const [name, p] of ports) rank[p] = name[0] === "<" ? 0 : level.ranks - 1;
    level.rank = rank;
    const w = new Float64Array(total).fill(6);
    items.forEach((box, i) => {
      w[i] = level.inner[i]?.width ?? this.#itemWidth(box);
    });
    for (const wire of level.wires) {
      wire.oa = this.#offset(level, wire.a, wire.pa);
      wire.ob = this.#offset(level, wire.b, wire.pb);
    }
    throughGaps(this, level);
    const { x, via, width } = placeItems(
      w,
      rank,
      level.ranks,
      level.wires,
      this.wiring.hints(level),
    );
    const pad = g.parent ? PAD : 0;
    const wide = Math.max(width + 2 * pad, g.parent ? this.metrics.titleWidth(g) : 0);
    const shift = (wide - width) / 2;
    level.x = x.map((v) => v + shift);
    level.width = wide;
    level.wires.forEach((wire, i) => {
      wire.via = via[i]?.map((v) => v + shift) ?? null;
    });
    level.gaps = assignTracks(level, GAP_Y);
    return level;
  }

  /**
   * Where a wire meets an open group, from the middle of its box.
   * @param {Level} level
   * @param {number} item
   * @param {string} port
   */
  #offset(level, item, port) {
    const inner = port ? level.inner[item] : null;
    if (!inner) return 0;
    return inner.x[/** @type {number} */ (inner.ports.get(port))] - inner.width / 2;
  }

  /** @param {number} box */
  #itemWidth(box) {
    const own =
      box < this.slots
        ? this.slotWidth(box)
        : this.metrics.groupWidth(this.tree.groups[box - this.slots]);
    const tags = this.tags.get(box);
    if (!tags) return own;
    const widths = tags.slice(0, 2).map((t) => t.width);
    return Math.max(own, 2 * Math.max(...widths) + 20);
  }

  /** Room for whatever stands there at any step. @param {number} slot */
  slotWidth(slot) {
    let w = 0;
    for (const o of this.union.occupants[slot]) {
      w = Math.max(w, this.metrics.nodeWidth(this.union.recs[o]));
      for (const { rec } of this.union.later.get(o) ?? [])
        w = Math.max(w, this.metrics.nodeWidth(rec));
    }
    return w;
  }
}

/**
 * How many rows of boxes stand above each, at most: as in the union, where all that ever was shows.
 * @param {Layout} layout @returns {Map<number, number>} box -> rows
 */
function rowsOfBoxes({ levels, tree, slots }) {
  /** @type {Map<number, number>} */
  const found = new Map();
  /** @param {Level} level @param {number} start @returns {number} the row below it */
  const walk = (level, start) =>
    level.rows.reduce((row, rank) => {
      const ends = rank.map((i) => {
        const box = level.items[i];
        found.set(box, row);
        const inner = box < slots || !tree.open[box - slots] ? null : levels[box - slots];
        return inner ? walk(inner, row + 1) : row + 1;
      });
      return Math.max(row, ...ends);
    }, start);
  walk(/** @type {Level} */ (levels[0]), 0);
  return found;
}

/** @param {Union} union @param {number} o */
function tagLabel(union, o) {
  const rec = union.recs[o];
  if (union.kind[o] === INPUT) return rec.name;
  const parts = rec.name.split("/").filter(Boolean);
  return parts[parts.length - 1] || rec.op;
}

/**
 * Producers whose output goes to many far places: drawn as stubs. Independent of folding.
 * @param {Union} union @returns {Uint8Array}
 */
export function findHubs(union) {
  const n = union.occupants.length;
  /** @type {[number, number][]} */
  const edges = [];
  const seen = new Set();
  /** @type {Set<number>[]} */ const atStart = Array.from({ length: n }, () => new Set());
  /** @type {Set<number>[]} */ const atEnd = Array.from({ length: n }, () => new Set());
  for (let e = 0; e < union.from.length; e++) {
    const a = union.slotOf[union.from[e]];
    const b = union.slotOf[union.to[e]];
    if (a === b) continue;
    if (!seen.has(a * n + b)) {
      seen.add(a * n + b);
      edges.push([a, b]);
    }
    // Consumers at the same time: those of the source, or those at the end.
    if (union.edgeBorn[e] === 0) atStart[a].add(b);
    if (union.edgeDied[e] === Infinity) atEnd[a].add(b);
  }
  const { rank } = rankItems(n, edges, new Int8Array(n));
  const hubs = new Uint8Array(n);
  for (let s = 0; s < n; s++) {
    const input = union.kind[union.occupants[s][0]] === INPUT;
    for (const consumers of [atStart[s], atEnd[s]]) {
      let far = 0;
      for (const c of consumers) if (rank[c] - rank[s] > LONG) far++;
      if (input ? consumers.size > 2 || far > 0 : far > 2) hubs[s] = 1;
    }
  }
  return hubs;
}
