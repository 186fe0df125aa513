// @ts-check
// Which steps touch a node: they match it, make it, change it or remove it.

import { append } from "./lists.js";

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
