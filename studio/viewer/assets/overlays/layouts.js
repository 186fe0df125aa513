// @ts-check
// Layouts of values: what each axis means, where data are moved into another order, and where two
// orders meet.

import { NODE } from "../trace/union.js";
import { Categorical, frequenciesOf } from "./categorical.js";
import { meaningOf } from "./layout-words.js";

const USUAL = ["NCHW", "NHWC", "NC1HWC0", "NCHWc8", "N(HW)C", "NCHWc16"];
const SHAPE = 3; // among the texts of a port

/** @typedef {Map<string, [number, string][]>} Told by id: from which step on it is what */

class Layouts extends Categorical {
  /** @param {import("../types.js").LayoutsJson} json */
  constructor({ steps }) {
    const values = told(steps, "values");
    const names = [...values.values()].flatMap((list) => list.map(([, name]) => name));
    super(frequenciesOf(names), { usual: USUAL, word: "Layout" });
    this.looked = steps.map(({ step }) => step);
    this.layouts = values;
    this.conversions = told(steps, "conversions");
    this.contradictions = told(steps, "contradictions");
  }

  /** @override @param {Session} s @param {number} o @param {number} port @param {number} step */
  nameOf(s, o, port, step) {
    const { id } = s.union.recs[o];
    const value = s.union.kind[o] === NODE ? `${id}:${port}` : id;
    return this.#at(this.layouts.get(value), s.union.born[o], step);
  }

  /** @override @param {Session} s @param {number} o @param {number} step */
  changeOf({ union }, o, step) {
    return this.#at(this.conversions.get(union.recs[o].id), union.born[o], step);
  }

  /** @override @param {Session} s @param {number} o @param {number} step */
  findingOf({ union }, o, step) {
    return this.#at(this.contradictions.get(union.recs[o].id), union.born[o], step);
  }

  /**
   * As it was found at the step looked at last; of a node that was not there yet, at the next one.
   * @param {[number, string][] | undefined} list @param {number} born @param {number} step
   */
  #at(list, born, step) {
    const last = list?.findLast(([from]) => from <= step);
    if (last || this.looked.some((at) => born <= at && at <= step)) return last?.[1] ?? "";
    return list?.[0][1] ?? "";
  }

  /**
   * Each layout of what a node makes and reads, in words.
   * @override @param {string} id @param {Session} s @returns {[string, string][]}
   */
  rows(id, s) {
    const o = s.union.index.get(id);
    if (o === undefined) return [];
    const step = s.present(o);
    /** @type {Map<string, string>} */
    const rows = new Map();
    const change = this.changeOf(s, o, step);
    if (change) rows.set("Conversion", change);
    for (const [from, port] of valuesAt(s, o)) {
      const name = this.nameOf(s, from, port, step);
      const shape = s.history.record(from, step).out?.[port]?.[SHAPE] ?? "";
      if (name && !rows.has(name)) rows.set(name, meaningOf(name, shape));
    }
    const finding = this.findingOf(s, o, step);
    if (finding) rows.set("Contradiction", finding);
    return [...rows];
  }
}

/** What a node makes, then what it reads: of which node, which output. @param {Session} s @param {number} o */
function valuesAt(s, o) {
  const { from, fromPort, to } = s.union;
  const { edgeAlive } = s.cursorOf(o);
  /** @type {[number, number][]} */
  const values = (s.history.record(o, s.present(o)).out ?? []).map((_, port) => [o, port]);
  for (let e = 0; e < to.length; e++)
    if (edgeAlive[e] && to[e] === o) values.push([from[e], fromPort[e]]);
  return values;
}

/**
 * The steps that were looked at tell only what is otherwise than before.
 * @param {import("../types.js").LayoutsJson["steps"]} steps
 * @param {"values" | "conversions" | "contradictions"} what
 */
function told(steps, what) {
  /** @type {Told} */
  const found = new Map();
  for (const each of steps)
    for (const [id, text] of Object.entries(each[what])) {
      const list = found.get(id) ?? [];
      list.push([each.step, text]);
      found.set(id, list);
    }
  return found;
}

/** @type {OverlayKind} */
export const LAYOUTS = {
  id: "layouts",
  title: "Layout",
  heading: "Layout",
  plural: "Layouts",
  key: "l",
  available: "once they are inferred",
  icon: "M2 2.5h12v11H2zM2 6h12M6 6v7.5M10 6v7.5",
  load: (json) => new Layouts(json),
};
