// @ts-check
// Two pipelines over one graph: the first one's result in the left pane, the second one's in the
// right. Its steps are the rewrites that only one of them made.

import { Provenance } from "../trace/provenance.js";
import { Session } from "./session.js";
import { Touches } from "../trace/history.js";
import { combine, signature } from "../trace/combined.js";

/**
 * @typedef {object} Side one of the pipelines
 * @property {string} name
 * @property {StepsJson} trace
 * @property {StepRecord[]} only rewrites that the other did not make, numbered as the session's steps
 * @property {Map<number, number>} targets their numbers in the session, by those in their own trace
 * @property {Provenance} provenance
 */

/** The rewrites that differ bear their number among these, and the one in their own trace. */
export class Comparison extends Session {
  /**
   * @param {GraphJson} graph
   * @param {{name: string, trace: StepsJson}[]} pipelines both
   * @param {Metrics} metrics
   */
  constructor(graph, [a, b], metrics) {
    const combined = combine(graph, a.trace, b.trace);
    super(graph, combined.trace, metrics);
    const { onlyFirst, onlySecond, second } = combined;
    this.both = combined.both;
    const numbered = (/** @type {StepRecord[]} */ list, /** @type {number} */ from) =>
      list.map((step, i) => ({ ...step, n: from + i + 1, own: step.n }));
    const first = numbered(onlyFirst, 0);
    const rest = numbered(onlySecond, first.length);
    const side = (/** @type {string} */ name, /** @type {StepsJson} */ trace, only = first) => {
      const provenance = new Provenance(trace);
      const targets = new Map(only.map((step) => [/** @type {number} */ (step.own), step.n]));
      return { name, trace, only, targets, provenance };
    };
    /** @type {Side[]} */
    this.sides = [side(a.name, a.trace), side(b.name, second, rest)];
    this.differing = [...first, ...rest];
    this.touches = new Touches(this.differing);
    this.at = 0;
    this.beforeCursor.goto(a.trace.steps.length);
    this.afterCursor.goto(combined.trace.steps.length);
  }

  /** @override */
  get step() {
    return this.at;
  }
  /** @override */
  get ownTrace() {
    return this.sides[0].trace;
  }
  /** @override */
  get steps() {
    return this.differing;
  }
  /** @override */
  get place() {
    const step = this.current;
    if (!step) return 0;
    const own = /** @type {number} */ (step.own);
    return this.sideOf(step) ? this.sides[0].trace.steps.length + 1 + own : own;
  }
  /** @override */
  get histories() {
    return this.sides.map(({ name, trace, provenance, targets }) => ({
      title: `With ${name}`,
      provenance,
      steps: trace.steps,
      target: (/** @type {number} */ n) => targets.get(n) ?? null,
      changes: () => [],
    }));
  }

  /** 0 or 1: who made a rewrite. @param {StepRecord} step */
  sideOf(step) {
    return step.n > this.sides[0].only.length ? 1 : 0;
  }

  /** @override @param {number} step */
  goto(step) {
    this.at = Math.max(0, Math.min(this.differing.length, step));
  }

  /** @override */
  get label() {
    const [a, b] = this.sides.map(({ name }) => name.replace(/[^A-Za-z0-9]+/g, "-"));
    return `${a}-against-${b}`;
  }

  /** @override @param {string} id */
  stepsOf(id) {
    const o = /** @type {number} */ (this.union.index.get(id));
    const origins = this.sides.flatMap(({ provenance }) => provenance.origins(id));
    const line = [
      id,
      ...origins,
      ...this.counterparts(o).map((other) => this.union.recs[other].id),
    ];
    return this.touches.ofAll(line);
  }

  /** @override @returns {import("./session.js").Snapshot[]} */
  states() {
    const { sources } = this.union;
    return [
      { name: "source", has: (o) => o < sources },
      { name: "A", has: (o) => !!this.beforeCursor.alive[o] },
      { name: "B", has: (o) => !!this.afterCursor.alive[o] },
    ];
  }

  /** The first pipeline's last step; rewrites that differ are counted on from there. @override */
  linkedStep() {
    return this.sides[0].trace.steps.length + this.at;
  }

  /** @override @param {number} linked */
  stepOfLink(linked) {
    const at = linked - this.sides[0].trace.steps.length;
    return Math.max(0, Math.min(this.steps.length, at));
  }

  /** @override @param {StepRecord} step @param {number} n */
  targetOf(step, n) {
    return this.sides[this.sideOf(step)].targets.get(n) ?? null;
  }

  /** @override @param {number} n */
  ownTarget(n) {
    return this.sides[0].targets.get(n) ?? null;
  }

  /**
   * What a rewrite made, where it was made, and what stands there in the other pane.
   * @override
   */
  touched() {
    const none = () => /** @type {Set<number>} */ (new Set());
    const step = this.current;
    if (!step) return { matched: none(), added: none(), changed: none() };
    const side = this.sideOf(step);
    const cursors = [this.beforeCursor, this.afterCursor];
    const made = step.added.length ? step.added : step.matched;
    return {
      matched: this.#standing(step.matched, 1 - side, cursors[1 - side]),
      added: this.#standing(made, side, cursors[side]),
      changed: none(),
    };
  }

  /** @param {string[]} ids @param {number} side @param {Cursor} cursor */
  #standing(ids, side, cursor) {
    const { index } = this.union;
    const { provenance } = this.sides[side];
    const alive = (/** @type {string} */ id) => !!cursor.alive[index.get(id) ?? -1];
    const origins = ids.flatMap((id) => (index.has(id) ? this.#known(id, side) : []));
    const found = origins.flatMap((id) => provenance.standing(id, alive));
    return new Set(found.map((id) => /** @type {number} */ (index.get(id))));
  }

  /** The node, or what it was made from, as far as a side knows it. @param {string} id @param {number} side */
  #known(id, side) {
    const o = /** @type {number} */ (this.union.index.get(id));
    if (o < this.union.sources || this.sides[side].provenance.born.has(id)) return [id];
    return this.sides[1 - side].provenance.origins(id);
  }

  /** @override @param {number} o */
  counterparts(o) {
    const { id } = this.union.recs[o];
    return [this.beforeCursor, this.afterCursor].flatMap((cursor, side) => [
      ...this.#standing([id], side, cursor),
    ]);
  }

  /** @override @param {number} o */
  present(o) {
    return this.afterCursor.alive[o] ? this.afterCursor.step : this.beforeCursor.step;
  }

  /**
   * @override
   * @param {number} o
   * @param {Which} _which
   * @param {ReturnType<Session["touched"]>} touched
   * @returns {BoxMark | null}
   */
  nodeMark(o, _which, touched) {
    if (this.places?.nodes.has(o)) return { mark: this.places.mark, now: true };
    const mark = this.#difference(o);
    const now = touched.added.has(o) || touched.matched.has(o);
    return mark || now ? { mark: mark ?? "matched", now } : null;
  }

  /** @override @param {number} g */
  changeText(g) {
    const [a, b] = this.sides.map((side) => side.name);
    const { plus, minus } = this.tally;
    const only = [minus[g] && `${minus[g]} only with ${a}`, plus[g] && `${plus[g]} only with ${b}`];
    return only.filter(Boolean).join(", ");
  }

  /** @override @param {Box} b @param {Set<number>} now @param {Set<number>} places */
  groupMark(b, now, places) {
    const mark = super.groupMark(b, now, places);
    return mark && { ...mark, sides: true };
  }

  /** @param {number} o @returns {Mark | null} */
  #difference(o) {
    const a = this.beforeCursor.alive[o],
      b = this.afterCursor.alive[o];
    if (a && !b) return "first";
    if (b && !a) return "second";
    const { history } = this;
    const [was, is] = [this.beforeCursor, this.afterCursor].map((c) =>
      signature(history.record(o, c.step)),
    );
    return was === is ? null : "changed";
  }
}
