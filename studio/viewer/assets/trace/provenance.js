// @ts-check
// Where a node came from and what became of it: `optimizer/rewrite/provenance.py` in the browser,
// from the links each step carries. A source node ends in exactly the nodes that name it as origin.

import { append } from "./lists.js";

/** @typedef {"kept" | "merged" | "bypassed" | "folded" | "dead"} Kind */
/** @typedef {Map<string, [number, string][]>} Links id -> when, and the id that follows */

/**
 * @typedef {object} Departure how a node left
 * @property {number} n the step
 * @property {Kind} kind
 * @property {string[]} nodes that left with it, itself among them
 * @property {string[]} into what took their place: nodes, inputs or constants
 */

export class Provenance {
  /** @param {StepsJson | null} trace */
  constructor(trace) {
    /** @type {Map<string, number>} id -> step that made it */ this.born = new Map();
    /** @type {Map<string, Departure>} */ this.left = new Map();
    /** @type {Links} negative steps, for the way back */ this.sources = new Map();
    /** @type {Links} */ this.heirs = new Map();
    /** @type {Links} id -> nodes whose readers took it instead */ this.instead = new Map();
    for (const step of trace?.steps ?? []) this.#read(step);
  }

  /** @param {StepRecord} step */
  #read({ n, added, from, became }) {
    for (const id of added) this.born.set(id, n);
    for (const [id, sources] of Object.entries(from ?? {}))
      for (const source of sources) {
        append(this.sources, id, [-n, source]);
        append(this.heirs, source, [n, id]);
      }
    for (const [kind, nodes, into] of became ?? []) {
      const departure = { n, kind, nodes, into };
      for (const id of nodes) this.left.set(id, departure);
      if (kind === "bypassed")
        for (const id of into) for (const node of nodes) append(this.instead, id, [n, node]);
    }
  }

  /** Source nodes whose work a node does after a step. @param {string} id @param {number} [step] */
  origins(id, step = Infinity) {
    return reached(id, this.sources, -step - 1).filter((x) => !this.born.has(x));
  }

  /**
   * A node and whose work it does, up to which step; it and what does its work, from which step.
   * @param {string} id
   * @returns {{sources: [string, number][], heirs: [string, number][]}}
   */
  line(id) {
    const sources = [...reach(id, this.sources)];
    return {
      sources: sources.map(([x, when]) => [x, -when]),
      heirs: [...reach(id, this.heirs)],
    };
  }

  /**
   * What became of a node by the end of the trace.
   * @param {string} id
   * @returns {{kind: Kind, into: string[]}}
   */
  fate(id) {
    const into = reached(id, this.heirs).filter((x) => x !== id && !this.left.has(x));
    if (!this.left.has(id)) return { kind: "kept", into };
    if (into.length) return { kind: "merged", into };
    const { bypassed, folded } = this.#readInstead(id);
    if (bypassed.size) return { kind: "bypassed", into: [...bypassed] };
    if (folded.size) return { kind: "folded", into: [...folded] };
    return { kind: "dead", into: [] };
  }

  /** @param {string} id */
  #readInstead(id) {
    /** @type {Set<string>} */ const bypassed = new Set();
    /** @type {Set<string>} */ const folded = new Set();
    /** what is read instead, and since when: what is found on the way is walked, too */
    const found = new Map([[id, -Infinity]]);
    for (const [current, after] of found) {
      if (!this.left.has(current)) bypassed.add(current);
      else
        for (const heir of reached(current, this.heirs, after)) {
          const gone = this.left.get(heir);
          if (!gone) bypassed.add(heir);
          else if (gone.kind === "folded") for (const x of gone.into) folded.add(x);
          else if (gone.kind === "bypassed")
            for (const x of gone.into) if (!found.has(x)) found.set(x, gone.n);
        }
    }
    return { bypassed, folded };
  }

  /**
   * What stands for a node at some step.
   * @param {string} id
   * @param {(id: string) => boolean} alive
   * @returns {string[]}
   */
  standing(id, alive) {
    const seen = new Set([id]); // what is found on the way is walked, too
    for (const next of seen)
      if (!alive(next)) for (const other of this.left.get(next)?.into ?? []) seen.add(other);
    return [...seen].filter(alive);
  }
}

/**
 * Where links lead from a node, itself first, each later than the one before.
 * @param {string} start
 * @param {Links} links
 * @param {number} [after] only links with a higher number count
 * @returns {string[]}
 */
const reached = (start, links, after) => [...reach(start, links, after).keys()];

/**
 * The same with the earliest link that leads there.
 * @param {string} start @param {Links} links @param {number} [after]
 * @returns {Map<string, number>}
 */
function reach(start, links, after = -Infinity) {
  const earliest = new Map([[start, after]]);
  const pending = [start];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const since = /** @type {number} */ (earliest.get(id));
    for (const [when, following] of links.get(id) ?? [])
      if (when > since && when < (earliest.get(following) ?? Infinity)) {
        earliest.set(following, when);
        pending.push(following);
      }
  }
  return earliest;
}
