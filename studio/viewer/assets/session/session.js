// @ts-check
// One graph with one trace, at one step: what each pane shows and what a rewrite did. No DOM here.

import { FoldTree } from "../trace/fold.js";
import { findHubs, Layout } from "../layout/layout.js";
import { Union } from "../trace/union.js";
import { hull, placePane } from "../layout/placement.js";
import { Stamped } from "../page/stamped.js";
import { Cursor, History, Touches } from "../trace/history.js";

/** @typedef {"before" | "after" | "overlay"} Which */

/** @typedef {{name: string, has: (o: number) => boolean}} Snapshot which nodes are there */

/**
 * @typedef {object} TraceHistory
 * @property {string} title
 * @property {Provenance} provenance
 * @property {StepRecord[]} steps of its trace
 * @property {(n: number) => number | null} target where to go for a step of that trace
 * @property {(o: number) => number[]} changes steps that changed a node in place
 */

export class Session {
  /** @param {GraphJson} graph @param {StepsJson | null} trace @param {Metrics} metrics */
  constructor(graph, trace, metrics) {
    this.graph = graph;
    this.trace = trace;
    this.metrics = metrics;
    this.union = new Union(graph, trace);
    this.history = new History(this.union);
    this.touches = new Touches(trace?.steps ?? []);
    this.hubs = findHubs(this.union);
    this.tree = new FoldTree(this.union);
    this.beforeCursor = new Cursor(this.union);
    this.afterCursor = new Cursor(this.union);
    /** @type {"source" | "previous"} */
    this.before = "source";
    this.layout = this.#newLayout();
    /** @type {Stamped<Picture>} */ this.pictures = new Stamped();
    /** @type {Stamped<import("./query.js").Candidates>} what a search looks at */
    this.searched = new Stamped();
    this.folds = 0;
    /** @type {{mark: Mark, nodes: Set<number>} | null} besides the step's */
    this.places = null;
    this.marked = 0;
  }

  #newLayout() {
    return new Layout(this.union, this.tree, this.metrics, this.hubs);
  }

  get step() {
    return this.afterCursor.step;
  }
  /** What the passes at the left make: vetoes are theirs. */
  get ownTrace() {
    return this.trace;
  }
  get steps() {
    return this.trace?.steps ?? [];
  }
  /** The rewrite that led to this step. */
  get current() {
    return this.step > 0 ? this.steps[this.step - 1] : null;
  }

  /** The current rewrite's number in the union's trace. */
  get place() {
    return this.step;
  }

  /**
   * What nodes went through, told by each trace that is shown.
   * @returns {TraceHistory[]}
   */
  get histories() {
    const { history, steps } = this;
    return [
      {
        title: "In this trace",
        provenance: history.provenance,
        steps,
        target: (n) => n,
        changes: (o) => history.changes(o),
      },
    ];
  }

  /** Steps that touch a node, what it was made from, or what does its work. @param {string} id */
  stepsOf(id) {
    return this.touches.ofLine(id, this.history.provenance);
  }

  /** @param {number} n a step @returns {Snapshot} */
  stateAt(n) {
    const { born, died } = this.union;
    return { name: n ? `step ${n}` : "source", has: (o) => born[o] <= n && n < died[o] };
  }

  /** The states of the graph worth counting: before, now, in the end. @returns {Snapshot[]} */
  states() {
    const steps = [...new Set([this.beforeCursor.step, this.step, this.steps.length])];
    return steps.sort((a, b) => a - b).map((n) => this.stateAt(n));
  }

  /** What is shown, for the name of a file. */
  get label() {
    return this.trace ? `step-${this.step}` : "source";
  }

  /** The step that a link to this view names. */
  linkedStep() {
    return this.step;
  }

  /** The step of this session that a link's step stands for. @param {number} linked */
  stepOfLink(linked) {
    return Math.min(linked, this.steps.length);
  }

  /**
   * Where to go for another step of the pipeline that made a step.
   * @param {StepRecord} _step @param {number} n the other one's number in its trace
   * @returns {number | null} null where it is no step of this session
   */
  targetOf(_step, n) {
    return n;
  }

  /** The same for a step of `ownTrace`. @param {number} n @returns {number | null} */
  ownTarget(n) {
    return n;
  }

  /** The step at which a node is shown. @param {number} o */
  present(o) {
    const died = this.union.died[o];
    return this.afterCursor.alive[o] ? this.step : Number.isFinite(died) ? died - 1 : 0;
  }

  /** What stands for a node in the panes, itself too. @param {number} o @returns {number[]} */
  counterparts(o) {
    const heirs = this.history.heirs(o, this.afterCursor.alive);
    return this.before === "source" ? [...heirs, ...this.history.ancestors(o)] : heirs;
  }

  /** @param {number} step @param {"source" | "previous"} [before] */
  goto(step, before = this.before) {
    this.before = before;
    this.afterCursor.goto(step);
    this.beforeCursor.goto(before === "source" ? 0 : this.afterCursor.step - 1);
    this.counted = null;
  }

  relayout() {
    this.layout = this.#newLayout();
    this.folds++;
    this.counted = null;
  }

  /** @param {string | null | undefined} id @returns {boolean} whether it names a node or a group */
  knows(id) {
    return !!id && (this.union.index.has(id) || this.tree.byId.has(id));
  }

  /** @param {string} id @returns {number} box that shows a node now, or -1 */
  boxOf(id) {
    const o = this.union.index.get(id);
    return o === undefined ? -1 : this.tree.boxOf(this.union.slotOf[o]);
  }

  /** Occupants, of the nodes that are known. @param {string[]} ids */
  occupants(ids) {
    return ids.map((id) => this.union.index.get(id)).filter((o) => o !== undefined);
  }

  /** A node as it was at first. @param {string} id */
  node(id) {
    const o = this.union.index.get(id);
    return o === undefined ? undefined : this.union.recs[o];
  }

  /** The pass that made a step; its rule, should that be unknown. @param {{pass: number, rule: string}} step */
  titleOf({ pass, rule }) {
    return this.trace?.passes[pass]?.title ?? rule;
  }

  /** The one in which a node is there, rather the later. @param {number} o */
  cursorOf(o) {
    return this.afterCursor.alive[o] ? this.afterCursor : this.beforeCursor;
  }

  /** Nodes at the other ends of a node's edges. @param {number} o @param {boolean} down to consumers */
  neighbours(o, down, { edgeAlive } = this.cursorOf(o)) {
    const { from, to } = this.union;
    const [near, far] = down ? [from, to] : [to, from];
    const found = new Set();
    for (let e = 0; e < near.length; e++) if (edgeAlive[e] && near[e] === o) found.add(far[e]);
    return [...found];
  }

  /** @param {Which} which @returns {Picture} */
  picture(which) {
    const steps = [this.beforeCursor.step, this.afterCursor.step];
    if (which === "after") steps[0] = -1;
    if (which === "before") steps[1] = -1;
    return this.pictures.get(which, [this.layout, ...steps], () =>
      placePane(this.layout, this.#state(which)),
    );
  }

  /** @param {Which} which @returns {import("../layout/placement.js").PaneState} */
  #state(which) {
    const { beforeCursor: a, afterCursor: b, history } = this;
    const cursor = which === "before" ? a : b;
    const both = which === "overlay";
    return {
      occupant: (s) => (both && b.occupant[s] < 0 ? a.occupant[s] : cursor.occupant[s]),
      record: (o) => history.record(o, cursor.step),
      groupCount: this.tally[which],
      edge: (e) => (both ? a.edgeAlive[e] | (b.edgeAlive[e] << 1) : cursor.edgeAlive[e] * 3),
    };
  }

  /** What changed in a group, in words. @param {number} g */
  changeText(g) {
    const { plus, minus } = this.tally;
    const parts = [plus[g] ? `+${plus[g]}` : "", minus[g] ? `−${minus[g]}` : ""];
    const change = parts.filter(Boolean).join(" ");
    return change && `${change} since ${this.before === "source" ? "source" : "the step before"}`;
  }

  /** Nodes below each group: in each pane, new since "before", gone since then. */
  get tally() {
    if (this.counted) return this.counted;
    const { union, tree, beforeCursor, afterCursor } = this;
    const n = tree.groups.length;
    const t = {
      before: new Int32Array(n),
      after: new Int32Array(n),
      overlay: new Int32Array(n),
      plus: new Int32Array(n),
      minus: new Int32Array(n),
    };
    for (let o = 0; o < union.recs.length; o++) {
      const a = beforeCursor.alive[o],
        b = afterCursor.alive[o];
      if (!(a | b)) continue;
      const g = tree.groupOf[union.slotOf[o]].at;
      t.before[g] += a;
      t.after[g] += b;
      t.overlay[g]++;
      if (b > a) t.plus[g]++;
      if (a > b) t.minus[g]++;
    }
    for (let i = n - 1; i > 0; i--) {
      const up = /** @type {Group} */ (tree.groups[i].parent).at;
      for (const list of [t.before, t.after, t.overlay, t.plus, t.minus]) list[up] += list[i];
    }
    this.counted = t;
    return t;
  }

  /** Occupants the current rewrite touched: what it matched, made and changed. */
  touched() {
    const step = this.current;
    if (!step) return { matched: new Set(), added: new Set(), changed: new Set() };
    const matched = new Set(this.occupants(step.matched));
    if (this.before === "source")
      for (const o of [...matched])
        if (o >= this.union.sources)
          for (const a of this.history.ancestors(o, step.n)) matched.add(a);
    return {
      matched,
      added: new Set(this.occupants(step.added)),
      changed: new Set(this.occupants(Object.keys(step.changed ?? {}))),
    };
  }

  /**
   * Mark nodes besides what the step did: a place that was vetoed, or places that were declined.
   * @param {Mark | null} mark @param {string[]} ids
   */
  mark(mark, ids) {
    const nodes = this.occupants(ids);
    this.places = mark && nodes.length ? { mark, nodes: new Set(nodes) } : null;
    this.marked++;
  }

  /** @param {Which} which @returns {Map<number, BoxMark>} */
  marks(which) {
    const touched = this.touched();
    const now = this.#around(Object.values(touched).flatMap((set) => [...set]));
    const places = this.#around(this.places?.nodes ?? []);
    /** @type {Map<number, BoxMark>} */
    const marks = new Map();
    for (const b of this.picture(which).boxes) {
      const mark =
        b.kind === "node" ? this.nodeMark(b.occ, which, touched) : this.groupMark(b, now, places);
      if (mark) marks.set(b.key, mark);
    }
    return marks;
  }

  /** Boxes of the groups around nodes. @param {Iterable<number>} nodes */
  #around(nodes) {
    const keys = new Set();
    for (const o of nodes)
      for (const g of this.tree.around(this.union.slotOf[o])) keys.add(this.layout.slots + g.at);
    return keys;
  }

  /**
   * @param {Box} b
   * @param {Set<number>} now groups around what the step did
   * @param {Set<number>} places groups around what is marked besides
   * @returns {BoxMark | null}
   */
  groupMark(b, now, places) {
    const g = b.key - this.layout.slots;
    const [plus, minus] = [this.tally.plus[g], this.tally.minus[g]];
    const here = now.has(b.key);
    const marked = places.has(b.key);
    if (!plus && !minus && !here && !marked) return null;
    const kind = here ? "matched" : marked ? (this.places?.mark ?? null) : null;
    const mark = b.kind === "closed" ? kind : null;
    return { mark, now: mark !== null, plus, minus };
  }

  /**
   * @param {number} o @param {Which} which @param {ReturnType<Session["touched"]>} touched
   * @returns {BoxMark | null}
   */
  nodeMark(o, which, touched) {
    const a = this.beforeCursor.alive[o],
      b = this.afterCursor.alive[o];
    if (which !== "before" && touched.added.has(o)) return { mark: "added", now: true };
    if (touched.changed.has(o)) return { mark: "changed", now: true };
    if (which !== "after" && touched.matched.has(o) && a)
      return { mark: b ? "matched" : "removed", now: true };
    if (which === "after" && touched.matched.has(o) && b) return { mark: "matched", now: true };
    if (this.places?.nodes.has(o) && (which === "before" ? a : b))
      return { mark: this.places.mark, now: true };
    if (a && !b) return { mark: "removed", now: false, faded: true };
    if (b && !a) return { mark: "added", now: false };
    if (this.history.changedBetween(o, this.beforeCursor.step, this.step))
      return { mark: "changed", now: false };
    return null;
  }

  /** Where the current rewrite is: boxes in a pane, or null. @param {Which} which */
  changeBounds(which) {
    const { matched, added, changed } = this.touched();
    const vetoed = this.places?.mark === "vetoed" ? this.places.nodes : null;
    const { byKey } = this.picture(which);
    const boxes = [...(vetoed ?? [...matched, ...added, ...changed])]
      .map((o) => byKey.get(this.tree.boxOf(this.union.slotOf[o])))
      .filter((b) => b !== undefined);
    return boxes.length ? hull(boxes) : null;
  }

  /** Where its root is, or what came for it, in a pane; null where neither is. @param {Which} which */
  rootBounds(which) {
    const step = this.current;
    const { byKey } = this.picture(which);
    const box = this.occupants(step ? [step.root, ...step.added] : [])
      .map((o) => byKey.get(this.tree.boxOf(this.union.slotOf[o])))
      .find((b) => b !== undefined);
    return box ? hull([box]) : null;
  }
}
