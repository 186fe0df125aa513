// @ts-check
// The union of every graph of a trace: all nodes that ever exist, the slots they sit in, all edges.
// It is laid out once; a step only shows and hides, so nothing that survives moves sideways.

import { append } from "./lists.js";

export const NODE = 0;
export const INPUT = 1;
const OUTPUT = 2;

/**
 * @typedef {object} Union
 * @property {GraphJson} graph
 * @property {StepsJson | null} trace
 * @property {NodeRecord[]} recs first record of each occupant
 * @property {Map<string, number>} index id -> occupant
 * @property {Uint8Array} kind NODE | INPUT | OUTPUT of each occupant
 * @property {number} sources occupants 0..sources-1 exist before any step
 * @property {Int32Array} slotOf occupant -> slot
 * @property {number[][]} occupants slot -> occupants
 * @property {Int32Array} order slot -> place in the list
 * @property {Int32Array} slotGroup slot -> group record index
 * @property {Int32Array} from edge -> occupant
 * @property {Int32Array} to edge -> occupant
 * @property {Int32Array} fromPort
 * @property {Int32Array} toPort
 * @property {number} sourceEdges edges 0..sourceEdges-1 exist before any step
 * @property {Delta[]} deltas one a step
 * @property {Map<number, Later[]>} later records that replace the first
 * @property {Float64Array} edgeBorn step from which each edge is there, 0 = source
 * @property {Float64Array} edgeDied step from which it is gone, Infinity = never
 * @property {Float64Array} born the same for occupants
 * @property {Float64Array} died
 */

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

/** @param {GraphJson} graph @param {StepsJson | null} trace @returns {Union} */
export function buildUnion(graph, trace) {
  const inputs = graph.inputs.map((port) => portRecord(port, "Input"));
  const outputs = graph.outputs.map((port) => portRecord(port, "Output"));
  const recs = [...inputs, ...graph.nodes, ...outputs];
  const sources = recs.length;
  const kind = new Uint8Array(sources + (trace?.nodes.length ?? 0)); // all of them NODE
  kind.fill(INPUT, 0, inputs.length).fill(OUTPUT, sources - outputs.length, sources);
  for (const node of trace?.nodes ?? []) recs.push(node);
  /** @type {Map<string, number>} */
  const index = new Map();
  for (const [i, { id }] of recs.entries()) if (!index.has(id)) index.set(id, i);
  const table = new EdgeTable(index);
  for (const e of graph.edges) table.put(e);
  const sourceEdges = table.from.length;
  const deltas = replay(trace, index, recs.length, sources, table);
  const slots = assignSlots(recs, sources, index, deltas);
  return {
    graph,
    trace,
    recs,
    index,
    kind,
    sources,
    ...slots,
    from: Int32Array.from(table.from),
    to: Int32Array.from(table.to),
    fromPort: Int32Array.from(table.fromPort),
    toPort: Int32Array.from(table.toPort),
    sourceEdges,
    deltas,
    later: laterRecords(trace, index),
    ...lifetimes(deltas, recs.length, sources, table.from.length, sourceEdges),
  };
}

/**
 * @param {Delta[]} deltas
 * @param {number} total
 * @param {number} sources
 * @param {number} edges
 * @param {number} sourceEdges
 */
function lifetimes(deltas, total, sources, edges, sourceEdges) {
  const born = new Float64Array(total).fill(Infinity).fill(0, 0, sources);
  const died = new Float64Array(total).fill(Infinity);
  const edgeBorn = new Float64Array(edges).fill(Infinity).fill(0, 0, sourceEdges);
  const edgeDied = new Float64Array(edges).fill(Infinity);
  deltas.forEach((d, i) => {
    for (const o of d.added) {
      born[o] = Math.min(born[o], i + 1);
      died[o] = Infinity; // a node may come back
    }
    for (const o of d.removed) died[o] = i + 1;
    for (const e of d.on) {
      edgeBorn[e] = Math.min(edgeBorn[e], i + 1);
      edgeDied[e] = Infinity;
    }
    for (const e of d.off) edgeDied[e] = i + 1;
  });
  return { born, died, edgeBorn, edgeDied };
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
    for (const id of step.removed) {
      const o = index.get(id);
      if (o === undefined || !alive[o]) continue;
      alive[o] = 0;
      d.removed.push(o);
    }
    for (const id of step.added) {
      const o = index.get(id);
      if (o === undefined || alive[o]) continue;
      alive[o] = 1;
      d.added.push(o);
    }
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
  const taken = new Int32Array(recs.length).fill(-1);
  for (let i = 0; i < sources; i++) taken[i] = i;
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
  const slotGroup = Int32Array.from(occupants, (list) => recs[list[0]].g ?? 0);
  return { slotOf, occupants, order, slotGroup };
}
