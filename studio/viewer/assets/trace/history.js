// @ts-check
// A cursor stands at one step of the trace and knows what is alive there. Moving costs O(changes).

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
    const target = Math.max(0, Math.min(this.union.deltas.length, step));
    while (this.step < target) this.#apply(this.union.deltas[this.step++]);
    while (this.step > target) this.#undo(this.union.deltas[--this.step]);
  }

  /** @param {import("./union.js").Delta} d */
  #apply(d) {
    for (const o of d.removed) this.#hide(o);
    for (const o of d.added) this.#show(o);
    for (const e of d.off) this.edgeAlive[e] = 0;
    for (const e of d.on) this.edgeAlive[e] = 1;
  }

  /** @param {import("./union.js").Delta} d */
  #undo(d) {
    for (const o of d.added) this.#hide(o);
    for (const o of d.removed) this.#show(o);
    for (const e of d.on) this.edgeAlive[e] = 0;
    for (const e of d.off) this.edgeAlive[e] = 1;
  }

  /** @param {number} o */
  #hide(o) {
    if (!this.alive[o]) return;
    const s = this.union.slotOf[o];
    this.alive[o] = 0;
    if (this.occupant[s] === o) this.occupant[s] = -1;
    this.total--;
  }

  /** @param {number} o */
  #show(o) {
    if (this.alive[o]) return;
    this.alive[o] = 1;
    this.occupant[this.union.slotOf[o]] = o;
    this.total++;
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
