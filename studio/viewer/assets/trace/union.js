// @ts-check
// The union of every graph of a trace: all nodes that ever exist, the slots they sit in, all edges.
// It is laid out once; a step only shows and hides, so nothing that survives moves sideways.

import { append } from "./lists.js";

export const NODE = 0;
export const INPUT = 1;
const OUTPUT = 2;

/**
 * @typedef {object} Later a record that holds from step `n` on
 * @property {number} n
 * @property {NodeRecord} rec
 * @property {boolean} marked false where the node itself is as before, but not what it reads
 */

/**
 * @typedef {object} Delta what a step turns on and off; exact, so that it can be undone
 * @property {number[]} removed
 * @property {number[]} added
 * @property {number[]} off edges
 * @property {number[]} on edges
 */

export class Union {
  /** @param {GraphJson} graph @param {StepsJson | null} trace */
  constructor(graph, trace) {
    const inputs = graph.inputs.map((port) => portRecord(port, "Input"));
    const outputs = graph.outputs.map((port) => portRecord(port, "Output"));
    const source = [...inputs, ...graph.nodes, ...outputs];
    const recs = [...source, ...(trace?.nodes ?? [])];
    /** @type {Map<string, number>} */
    const index = new Map();
    for (const [i, { id }] of recs.entries()) if (!index.has(id)) index.set(id, i);
    const table = new EdgeTable(index);
    for (const e of graph.edges) table.put(e);
    this.graph = graph;
    this.trace = trace;
    /** first record of each occupant */ this.recs = recs;
    /** id -> occupant */ this.index = index;
    /** occupants 0..sources-1 exist before any step */ this.sources = source.length;
    /** NODE | INPUT | OUTPUT of each occupant */ this.kind = new Uint8Array(recs.length);
    this.kind.fill(INPUT, 0, inputs.length);
    this.kind.fill(OUTPUT, source.length - outputs.length, source.length);
    /** edges 0..sourceEdges-1 exist before any step */ this.sourceEdges = table.from.length;
    /** one a step */ this.deltas = replay(trace, index, recs.length, source.length, table);
    /** edge -> occupant */ this.from = Int32Array.from(table.from);
    /** edge -> occupant */ this.to = Int32Array.from(table.to);
    this.fromPort = Int32Array.from(table.fromPort);
    this.toPort = Int32Array.from(table.toPort);
    const { slotOf, occupants, order } = assignSlots(recs, source.length, index, this.deltas);
    /** occupant -> slot */ this.slotOf = slotOf;
    /** slot -> occupants */ this.occupants = occupants;
    /** slot -> place in the list */ this.order = order;
    /** slot -> group record index */
    this.slotGroup = Int32Array.from(occupants, ([first]) => recs[first].g ?? 0);
    /** records that replace the first */ this.later = laterRecords(trace, index);
    const nodes = lifetimes(recs.length, source.length, this.deltas, ["added", "removed"]);
    /** step from which each occupant is there, 0 = source */ this.born = nodes.born;
    /** step from which it is gone, Infinity = never */ this.died = nodes.died;
    const edges = lifetimes(table.from.length, this.sourceEdges, this.deltas, ["on", "off"]);
    /** the same for edges */ this.edgeBorn = edges.born;
    this.edgeDied = edges.died;
  }
}

/**
 * @param {number} total @param {number} sources there before any step
 * @param {Delta[]} deltas @param {[keyof Delta, keyof Delta]} ways in which they come and go
 */
function lifetimes(total, sources, deltas, [come, go]) {
  const born = new Float64Array(total).fill(Infinity).fill(0, 0, sources);
  const died = new Float64Array(total).fill(Infinity);
  deltas.forEach((delta, i) => {
    for (const x of delta[come]) {
      born[x] = Math.min(born[x], i + 1);
      died[x] = Infinity; // it may come back
    }
    for (const x of delta[go]) died[x] = i + 1;
  });
  return { born, died };
}

/**
 * The records stay where the trace has them; here is only the order to look them up in.
 * @param {StepsJson | null} trace
 * @param {Map<string, number>} index id -> occupant
 * @returns {Map<number, Later[]>}
 */
function laterRecords(trace, index) {
  /** @type {Map<number, Later[]>} */
  const later = new Map();
  for (const { n, changed = {}, updated = {} } of trace?.steps ?? [])
    for (const [id, rec] of Object.entries({ ...updated, ...changed })) {
      const o = index.get(id);
      if (o !== undefined) append(later, o, { n, rec, marked: Object.hasOwn(changed, id) });
    }
  return later;
}

/** @param {import("../types.js").Port} p @param {string} op @returns {NodeRecord} */
function portRecord(p, op) {
  const type = [p.dtype, p.shape].filter(Boolean).join(" ");
  const value = ["value", p.name, p.dtype ?? "", p.shape ?? ""];
  return {
    id: p.id,
    op: p.name || op,
    name: p.name,
    cat: "io",
    rows: type ? [type] : [],
    g: 0,
    attrs: [],
    in: op === "Output" ? [value] : [],
    out: op === "Input" ? [value] : [],
  };
}

/** Edges by identity, so that a step can name one that was gone and came back. */
class EdgeTable {
  /** @param {Map<string, number>} index */
  constructor(index) {
    this.index = index;
    /** @type {number[]} */ this.from = [];
    /** @type {number[]} */ this.to = [];
    /** @type {number[]} */ this.fromPort = [];
    /** @type {number[]} */ this.toPort = [];
    /** @type {Map<string, number>} */ this.ids = new Map();
    /** @type {Map<number, number[]>} */ this.touching = new Map();
  }

  /** @param {EdgeRecord} e @returns {number} the edge, or -1 where an end is unknown */
  put([f, t, fp = 0, tp = 0]) {
    const a = this.index.get(f);
    const b = this.index.get(t);
    if (a === undefined || b === undefined || a === b) return -1;
    const key = `${a},${b},${fp},${tp}`;
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const i = this.from.length;
    this.ids.set(key, i);
    this.from.push(a);
    this.to.push(b);
    this.fromPort.push(fp);
    this.toPort.push(tp);
    for (const end of [a, b]) append(this.touching, end, i);
    return i;
  }
}

/**
 * Walk the trace once and write down what each step really switches.
 * @param {StepsJson | null} trace @param {Map<string, number>} index
 * @param {number} total @param {number} sources @param {EdgeTable} table
 * @returns {Delta[]}
 */
function replay(trace, index, total, sources, table) {
  const alive = new Uint8Array(total).fill(1, 0, sources);
  const edgeAlive = table.from.map(() => true);
  /** @type {Delta[]} */
  const deltas = [];
  for (const step of trace?.steps ?? []) {
    /** @type {Delta} */
    const d = { removed: [], added: [], off: [], on: [] };
    /** @param {number} e @param {boolean} want */
    const toggle = (e, want) => {
      if (e < 0 || !!edgeAlive[e] === want) return;
      edgeAlive[e] = want;
      (want ? d.on : d.off).push(e);
    };
    /** @param {string[]} ids @param {0 | 1} want @param {number[]} changed */
    const turn = (ids, want, changed) => {
      for (const o of ids.map((id) => index.get(id)))
        if (o !== undefined && alive[o] !== want) {
          alive[o] = want;
          changed.push(o);
        }
    };
    turn(step.removed, 0, d.removed);
    turn(step.added, 1, d.added);
    for (const e of step.edges_removed ?? []) toggle(table.put(e), false);
    for (const e of step.edges_added ?? []) toggle(table.put(e), true);
    for (const [out, from] of Object.entries(step.outs ?? {}))
      moveOutput(out, from, table, edgeAlive, toggle);
    for (const o of d.removed) for (const e of table.touching.get(o) ?? []) toggle(e, false);
    deltas.push(d);
  }
  return deltas;
}

/**
 * @param {string} out @param {string} from @param {EdgeTable} table @param {boolean[]} edgeAlive
 * @param {(e: number, want: boolean) => void} toggle
 */
function moveOutput(out, from, table, edgeAlive, toggle) {
  const o = table.index.get(out);
  const p = table.index.get(from);
  if (o === undefined || p === undefined) return;
  let fed = false;
  for (const e of [...(table.touching.get(o) ?? [])]) {
    if (table.to[e] !== o || !edgeAlive[e]) continue;
    if (table.from[e] === p) fed = true;
    else toggle(e, false);
  }
  if (!fed) toggle(table.put([from, out, 0, 0]), true);
}

/**
 * @param {NodeRecord[]} recs
 * @param {number} sources
 * @param {Map<string, number>} index
 * @param {Delta[]} deltas
 */
function assignSlots(recs, sources, index, deltas) {
  const slotOf = new Int32Array(recs.length).fill(-1);
  /** @type {number[][]} */
  const occupants = [];
  /** @type {number[]} */
  const next = []; // linked list: a new slot goes right behind its neighbour
  const tail = new Map(); // neighbour slot -> last slot put behind it
  for (let i = 0; i < sources; i++) {
    slotOf[i] = i;
    occupants.push([i]);
    next.push(i + 1 < sources ? i + 1 : -1);
  }
  const taken = slotOf.slice();
  for (const d of deltas) {
    for (const o of d.removed) if (taken[slotOf[o]] === o) taken[slotOf[o]] = -1;
    for (const o of d.added) {
      if (slotOf[o] < 0) slotOf[o] = chooseSlot(recs[o], o);
      taken[slotOf[o]] = o;
    }
  }
  for (let o = sources; o < recs.length; o++) if (slotOf[o] < 0) slotOf[o] = chooseSlot(recs[o], o);

  /** @param {NodeRecord} rec @param {number} o */
  function chooseSlot(rec, o) {
    const old = rec.slot ? index.get(rec.slot) : undefined;
    const s = old === undefined ? -1 : slotOf[old];
    if (s >= 0 && taken[s] < 0) {
      occupants[s].push(o);
      return s;
    }
    const nearNode = index.get(rec.near ?? rec.slot ?? "");
    const near = nearNode === undefined || slotOf[nearNode] < 0 ? 0 : slotOf[nearNode];
    const fresh = occupants.length;
    occupants.push([o]);
    const behind = tail.get(near) ?? near;
    next.push(next[behind] ?? -1);
    if (behind < fresh) next[behind] = fresh;
    tail.set(near, fresh);
    return fresh;
  }

  const order = new Int32Array(occupants.length);
  let place = 0;
  for (let s = occupants.length ? 0 : -1; s >= 0; s = next[s]) order[s] = place++;
  return { slotOf, occupants, order };
}
