// @ts-check
// Node times of a profile: how long each node of a pane takes.

import { microseconds } from "../page/numbers.js";

/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../session/session.js").Which} Which */
/** @typedef {import("../layout/placement.js").Box} Box */
/** @typedef {import("./overlay.js").Overlay} Overlay */
/** @typedef {"steady" | "first"} Run */
/** @typedef {import("./overlay.js").Value & {kernel: Kernel | null}} Time in µs; no kernel: of a group */

/**
 * @typedef {object} Kernel an operator as it ran
 * @property {number} first µs in the first run
 * @property {number} steady µs, median of later runs
 * @property {string} op
 * @property {number} nodes how many nodes it computes
 * @property {Profiled} of
 */

/**
 * @typedef {object} Profiled
 * @property {number} step
 * @property {string} label
 * @property {Map<string, Kernel>} kernels by the ids of the nodes that they compute
 * @property {number | null} profiler µs that the profiler took of each, taken off; null: nothing was
 */

/** @implements {Overlay} */
export class NodeTimes {
  /** @param {import("../types.js").TimesJson} json */
  constructor(json) {
    /** @type {string} */ this.choice = "steady";
    this.choices = [
      { id: "steady", text: "steady", hint: "Medians of the later runs" },
      { id: "first", text: "first run", hint: "The first run" },
    ];
    /** @type {Profiled[]} */
    this.profiles = json.profiles.map(({ step, label, kernels, profiler_us: profiler = null }) => {
      /** @type {Profiled} */
      const of = { step, label, kernels: new Map(), profiler };
      for (const [first, steady, op, ids] of kernels) {
        const kernel = { first, steady, op, nodes: ids.length, of };
        for (const id of ids) if (!of.kernels.has(id)) of.kernels.set(id, kernel);
      }
      return of;
    });
    /** @type {Map<Which, {stamp: string, sums: Map<number, number>}>} */
    this.sums = new Map();
  }

  /** @returns {Run} */
  get run() {
    return this.choice === "first" ? "first" : "steady";
  }

  /** The slowest operator of all profiles, in µs. */
  get most() {
    let most = 1;
    for (const p of this.profiles)
      for (const k of p.kernels.values()) most = Math.max(most, k[this.run]);
    return most;
  }

  /** What was taken off for the profiler, in a few words. */
  get takenOff() {
    const known = this.profiles.flatMap((p) => (p.profiler === null ? [] : [p.profiler]));
    if (!known.length) return "profiler: not taken off";
    const ends = [Math.min(...known), Math.max(...known)].map((us) => Number(us.toPrecision(2)));
    return `profiler: −${[...new Set(ends)].join(" to ")} µs a node, measured here`;
  }

  get ofSource() {
    return this.profiles.some((p) => p.step === 0);
  }

  /** Profiles, the one nearest to a step first. @param {number} step */
  #near(step) {
    return [...this.profiles].sort((a, b) => Math.abs(a.step - step) - Math.abs(b.step - step));
  }

  /**
   * The operator that computes a node: of the nearest step that was profiled and has the node.
   * @param {string} id @param {number} step
   * @returns {Kernel | null}
   */
  kernel(id, step) {
    for (const p of this.#near(step)) {
      const kernel = p.kernels.get(id);
      if (kernel) return kernel;
    }
    return null;
  }

  /**
   * What a drawing asks for each of its boxes.
   * @param {Session} s @param {Which} which
   * @returns {(box: Box) => Time | null}
   */
  values(s, which) {
    const step = which === "before" ? s.beforeCursor.step : s.afterCursor.step;
    const near = this.#near(step);
    const most = this.most;
    const find = (/** @type {string} */ id) => {
      for (const p of near) {
        const kernel = p.kernels.get(id);
        if (kernel) return kernel;
      }
      return null;
    };
    const time = (/** @type {number} */ us, /** @type {Kernel | null} */ kernel) => ({
      amount: us,
      share: Math.min(1, Math.sqrt(us / most)),
      kernel,
    });
    return (box) => {
      if (box.group) {
        const us = this.#groups(s, which, find).get(box.group.at);
        return us ? time(us, null) : null;
      }
      const kernel = box.rec ? find(box.rec.id) : null;
      return kernel ? time(kernel[this.run], kernel) : null;
    };
  }

  /**
   * µs of all operators in each group, none counted twice.
   * @param {Session} s @param {Which} which @param {(id: string) => Kernel | null} find
   */
  #groups(s, which, find) {
    const stamp = `${s.folds}|${s.beforeCursor.step}|${s.afterCursor.step}|${this.run}`;
    const known = this.sums.get(which);
    if (known?.stamp === stamp) return known.sums;
    const cursor = which === "before" ? s.beforeCursor : s.afterCursor;
    /** @type {Map<number, Set<Kernel>>} */
    const inside = new Map();
    for (let o = 0; o < s.union.recs.length; o++) {
      if (!cursor.alive[o]) continue;
      const kernel = find(s.union.recs[o].id);
      if (!kernel) continue;
      let g = /** @type {import("../trace/group.js").Group | null} */ (
        s.tree.groupOf[s.union.slotOf[o]]
      );
      for (; g; g = g.parent) {
        const kernels = inside.get(g.at) ?? new Set();
        inside.set(g.at, kernels.add(kernel));
      }
    }
    const sums = new Map();
    for (const [at, kernels] of inside) {
      let us = 0;
      for (const kernel of kernels) us += kernel[this.run];
      sums.set(at, us);
    }
    this.sums.set(which, { stamp, sums });
    return sums;
  }

  /** @param {import("../page/theme.js").Theme} theme @param {number} share */
  colour(theme, share) {
    return theme.intensity(share);
  }

  /** @param {import("./overlay.js").Value} time */
  label({ amount }) {
    return microseconds(amount);
  }

  /** @param {import("./overlay.js").Value} time */
  text(time) {
    const { amount, kernel } = /** @type {Time} */ (time);
    if (!kernel) return `${microseconds(amount)} in its operators`;
    const shared = kernel.nodes > 1 ? `, one ${kernel.op} for ${kernel.nodes} nodes` : "";
    return `${microseconds(amount)}${shared}, measured as ${kernel.of.label}`;
  }

  /** In every step that was profiled. @param {string} id @returns {[string, string][]} */
  rows(id) {
    return this.profiles.flatMap(({ label, kernels }) => {
      const kernel = kernels.get(id);
      if (!kernel) return [];
      const shared = kernel.nodes > 1 ? ` (${kernel.op}, ${kernel.nodes} nodes)` : "";
      const times = `${microseconds(kernel.steady)}, first run ${microseconds(kernel.first)}`;
      return [/** @type {[string, string]} */ ([label, `${times}${shared}`])];
    });
  }

  legend() {
    return {
      middle: microseconds(this.most / 4),
      most: microseconds(this.most),
      note: this.takenOff,
      hint: "The time that the runtime's profiler itself takes of each node",
      choosing: "Run",
    };
  }
}

/** @type {import("./overlay.js").OverlayKind} */
export const NODE_TIMES = {
  id: "node_times",
  title: "Time of a node",
  heading: "Time",
  plural: "Times of nodes",
  key: "t",
  available: "after a profile was made",
  icon: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.5V8l2.5 1.5",
  load: (json) => new NodeTimes(json),
};
