// @ts-check
// A cursor stands at one step of the trace and knows what is alive there. Moving costs O(changes).

import { append } from "./lists.js";
import { Provenance } from "./provenance.js";

export class Cursor {
  /** @param {Union} union */
  constructor(union) {
    this.union = union;
    this.step = 0;
    this.alive = new Uint8Array(union.recs.length).fill(1, 0, union.sources);
    this.edgeAlive = new Uint8Array(union.from.length).fill(1, 0, union.sourceEdges);
    this.occupant = new Int32Array(union.occupants.length).fill(-1);
    for (let i = 0; i < union.sources; i++) this.occupant[i] = i;
    this.total = union.graph.nodes.length;
  }

  /** @param {number} step */
  goto(step) {
    const { deltas } = this.union;
    const target = Math.max(0, Math.min(deltas.length, step));
    while (this.step < target) {
      const { removed, added, off, on } = deltas[this.step++];
      this.#switch(removed, added, off, on);
    }
    while (this.step > target) {
      const { removed, added, off, on } = deltas[--this.step];
      this.#switch(added, removed, on, off);
    }
  }

  /** @param {number[]} go @param {number[]} come @param {number[]} off @param {number[]} on edges */
  #switch(go, come, off, on) {
    const { slotOf } = this.union;
    for (const o of go) {
      if (!this.alive[o]) continue;
      this.alive[o] = 0;
      if (this.occupant[slotOf[o]] === o) this.occupant[slotOf[o]] = -1;
      this.total--;
    }
    for (const o of come) {
      if (this.alive[o]) continue;
      this.alive[o] = 1;
      this.occupant[slotOf[o]] = o;
      this.total++;
    }
    for (const e of off) this.edgeAlive[e] = 0;
    for (const e of on) this.edgeAlive[e] = 1;
  }
}

/** Records that a step replaced in place, and the life of every node. Built once per trace. */
export class History {
  /** @param {Union} union */
  constructor(union) {
    this.union = union;
    this.provenance = new Provenance(union.trace);
  }

  /** Steps that changed a node in place. @param {number} o */
  changes(o) {
    return (this.union.later.get(o) ?? []).filter((c) => c.marked).map((c) => c.n);
  }

  /** @param {number} o @param {number} step @returns {NodeRecord} */
  record(o, step) {
    let rec = this.union.recs[o];
    for (const c of this.union.later.get(o) ?? []) {
      if (c.n > step) break;
      rec = c.rec;
    }
    return rec;
  }

  /** Was it changed in place after `from` and up to `to`? @param {number} o @param {number} from @param {number} to */
  changedBetween(o, from, to) {
    const later = this.union.later.get(o) ?? [];
    return later.some((c) => c.marked && c.n > from && c.n <= to);
  }

  /**
   * Source nodes whose work an occupant does after a step.
   * @param {number} o
   * @param {number} [step]
   * @returns {number[]}
   */
  ancestors(o, step) {
    const { recs } = this.union;
    return this.#occupants(this.provenance.origins(recs[o].id, step)).filter((x) => x !== o);
  }

  /**
   * What stands for a node at a step.
   * @param {number} o
   * @param {Uint8Array} alive
   * @returns {number[]}
   */
  heirs(o, alive) {
    const { index, recs } = this.union;
    const isAlive = (/** @type {string} */ id) => !!alive[index.get(id) ?? -1];
    return this.#occupants(this.provenance.standing(recs[o].id, isAlive));
  }

  /** @param {string[]} ids @returns {number[]} */
  #occupants(ids) {
    return ids.map((id) => this.union.index.get(id)).filter((o) => o !== undefined);
  }
}

/** Which steps touch a node: they match it, make it, change it or remove it. */
export class Touches {
  /** @param {StepRecord[]} steps */
  constructor(steps) {
    /** @type {Map<string, number[]>} node -> steps */
    this.at = new Map();
    for (const step of steps) {
      const changed = Object.keys(step.changed ?? {});
      for (const id of new Set([...step.matched, ...step.added, ...step.removed, ...changed])) {
        append(this.at, id, step.n);
      }
    }
  }

  /** Steps that touch any of these nodes, in order. @param {string[]} ids */
  ofAll(ids) {
    return inOrder(ids.flatMap((id) => this.at.get(id) ?? []));
  }

  /**
   * Steps that touch a node; what it was made from, until then; and what does its work, since then.
   * @param {string} id @param {Provenance} provenance
   */
  ofLine(id, provenance) {
    const { sources, heirs } = provenance.line(id);
    const before = sources.map(([x, until]) => this.#within(x, 0, until));
    const since = heirs.map(([x, from]) => this.#within(x, from, Infinity));
    return inOrder([...before, ...since].flat());
  }

  /** @param {string} id @param {number} from @param {number} to */
  #within(id, from, to) {
    return (this.at.get(id) ?? []).filter((n) => from <= n && n <= to);
  }
}

/** @param {number[]} steps */
const inOrder = (steps) => [...new Set(steps)].sort((a, b) => a - b);
