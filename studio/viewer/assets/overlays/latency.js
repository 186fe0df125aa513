// @ts-check
// Node times of a profile: how long each node of a pane takes, and how hot that is.

import { threeDigits } from "../page/numbers.js";

/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../session/session.js").Which} Which */
/** @typedef {import("../layout/placement.js").Box} Box */
/** @typedef {"steady" | "first"} Phase */

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

/**
 * @typedef {object} Warmth of one box
 * @property {number} us
 * @property {number} t 0 to 1, on the scale that all panes share
 * @property {Kernel | null} kernel null for a group
 */

export class Heat {
  /** @param {import("../types.js").TimesJson} json */
  constructor(json) {
    /** @type {Phase} */ this.phase = "steady";
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

  /** The hottest operator of all profiles, in µs. */
  get most() {
    let most = 1;
    for (const p of this.profiles)
      for (const k of p.kernels.values()) most = Math.max(most, k[this.phase]);
    return most;
  }

  /** What was taken off for the profiler, in a few words. */
  get takenOff() {
    const known = this.profiles.flatMap((p) => (p.profiler === null ? [] : [p.profiler]));
    if (!known.length) return "profiler: not taken off";
    const ends = [Math.min(...known), Math.max(...known)].map((us) => Number(us.toPrecision(2)));
    return `profiler: −${[...new Set(ends)].join(" to ")} µs a node, measured here`;
  }

  /** Whether anything in the source was measured: all that a viewer without a trace can show. */
  get hasSource() {
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
   * @returns {(box: Box) => Warmth | null}
   */
  of(s, which) {
    const step = which === "before" ? s.early.step : s.late.step;
    const near = this.#near(step);
    const most = this.most;
    const find = (/** @type {string} */ id) => {
      for (const p of near) {
        const kernel = p.kernels.get(id);
        if (kernel) return kernel;
      }
      return null;
    };
    const warmth = (/** @type {number} */ us, /** @type {Kernel | null} */ kernel) => ({
      us,
      t: Math.min(1, Math.sqrt(us / most)),
      kernel,
    });
    return (box) => {
      if (box.group) {
        const us = this.#groups(s, which, find).get(box.group.at);
        return us ? warmth(us, null) : null;
      }
      const kernel = box.rec ? find(box.rec.id) : null;
      return kernel ? warmth(kernel[this.phase], kernel) : null;
    };
  }

  /**
   * µs of all operators in each group, none counted twice.
   * @param {Session} s @param {Which} which @param {(id: string) => Kernel | null} find
   */
  #groups(s, which, find) {
    const stamp = `${s.folds}|${s.early.step}|${s.late.step}|${this.phase}`;
    const known = this.sums.get(which);
    if (known?.stamp === stamp) return known.sums;
    const cursor = which === "before" ? s.early : s.late;
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
      for (const kernel of kernels) us += kernel[this.phase];
      sums.set(at, us);
    }
    this.sums.set(which, { stamp, sums });
    return sums;
  }
}

/** Three digits and a unit. @param {number} us */
export function microseconds(us) {
  return us < 999.5 ? `${threeDigits(us)} µs` : `${threeDigits(us / 1000)} ms`;
}

/** One line on what a box takes. @param {Warmth} warm */
export function warmthText(warm) {
  const { kernel } = warm;
  if (!kernel) return `${microseconds(warm.us)} in its operators`;
  const shared = kernel.nodes > 1 ? `, one ${kernel.op} for ${kernel.nodes} nodes` : "";
  return `${microseconds(warm.us)}${shared}, measured as ${kernel.of.label}`;
}
