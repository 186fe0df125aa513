// @ts-check
// Node times of a profile: how long each node of a pane takes.

import { microseconds } from "../page/numbers.js";
import { Stamped } from "../page/stamped.js";
import { eachInside, stamp } from "./panes.js";

/** @typedef {"steady" | "first"} Run */
/** @typedef {import("./overlay.js").Amount & {kernel: Kernel | null}} Time in µs; no kernel: of a group */

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

/** @implements {OverlayOf<Time>} */
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
    /** @type {Stamped<Map<number, number>>} by group */ this.sums = new Stamped();
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
   * What a drawing asks for each of its boxes.
   * @param {Session} s @param {Which} which
   * @returns {(box: Box) => Time | null}
   */
  values(s, which) {
    const step = which === "before" ? s.beforeCursor.step : s.afterCursor.step;
    const most = this.most;
    const near = this.#near(step);
    const find = (/** @type {string} */ id) => kernelIn(near, id);
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
    return this.sums.get(which, [...stamp(s), this.run], () => {
      /** @type {Map<number, Set<Kernel>>} */
      const inside = new Map();
      eachInside(s, which, (o, group) => {
        const kernel = find(s.union.recs[o].id);
        if (kernel) inside.set(group, (inside.get(group) ?? new Set()).add(kernel));
      });
      const sum = (/** @type {Set<Kernel>} */ kernels) =>
        [...kernels].reduce((us, kernel) => us + kernel[this.run], 0);
      return new Map([...inside].map(([at, kernels]) => [at, sum(kernels)]));
    });
  }

  /** @param {Theme} theme @param {{share: number}} time */
  colour(theme, { share }) {
    return theme.intensity(share);
  }

  /** @param {Time} time */
  label({ amount }) {
    return microseconds(amount);
  }

  /** @param {Time} time */
  text({ amount, kernel }) {
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
      scale: ["0", microseconds(this.most / 4), microseconds(this.most)], // shares are square roots
      note: this.takenOff,
      hint: "The time that the runtime's profiler itself takes of each node",
      choosing: "Run",
    };
  }
}

/** The first that computes a node. @param {Profiled[]} profiles @param {string} id */
const kernelIn = (profiles, id) =>
  profiles.find(({ kernels }) => kernels.has(id))?.kernels.get(id) ?? null;

/** @type {OverlayKind} */
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
