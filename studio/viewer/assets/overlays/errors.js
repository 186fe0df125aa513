// @ts-check
// Errors of nodes: how far what each computes at a step is from what it computes in the source.

import { threeDigits } from "../page/numbers.js";
import { Stamped } from "../page/stamped.js";
import { eachInside, stamp } from "./panes.js";

const FAINT_DB = 60; // no colour from here on

/**
 * @typedef {import("./overlay.js").Amount & {relative: number, reason: string}} NodeError amount in
 *   dB, Infinity where nothing differs
 */

/** @implements {OverlayOf<NodeError>} */
class Errors {
  /** @param {import("../types.js").ErrorsJson} json */
  constructor({ step, label, nodes, begins }) {
    /** @type {import("./overlay.js").Choice[]} */ this.choices = [];
    this.choice = "";
    this.ofSource = step === 0;
    this.origin = label;
    /** @type {Map<string, NodeError>} */ this.nodes = new Map();
    for (const [id, [db, relative, reason]] of Object.entries(nodes)) {
      const amount = db ?? Infinity;
      const share = Math.max(0, Math.min(1, 1 - amount / FAINT_DB));
      const finding = begins.includes(id) ? "The error begins here" : "";
      this.nodes.set(id, { amount, share, relative, reason, finding });
    }
    /** @type {Stamped<Map<number, NodeError>>} by group */ this.worst = new Stamped();
  }

  /** @param {Session} s @param {Which} which @returns {(box: Box) => NodeError | null} */
  values(s, which) {
    return ({ group, rec }) =>
      (group ? this.#worst(s, which).get(group.at) : this.nodes.get(rec?.id ?? "")) ?? null;
  }

  /** In each group. @param {Session} s @param {Which} which */
  #worst(s, which) {
    return this.worst.get(which, stamp(s), () => {
      /** @type {Map<number, NodeError>} */
      const groups = new Map();
      eachInside(s, which, (o, group) => {
        const error = this.nodes.get(s.union.recs[o].id);
        const known = groups.get(group);
        if (!error) return;
        const worse = known && known.amount <= error.amount ? known : error;
        groups.set(group, { ...worse, finding: known?.finding || error.finding });
      });
      return groups;
    });
  }

  /** @param {Theme} theme @param {{share: number}} error */
  colour(theme, { share }) {
    return theme.intensity(share);
  }

  /** @param {NodeError} error */
  label({ amount }) {
    return amount === Infinity ? "" : decibels(Math.round(amount));
  }

  /** @param {NodeError} error */
  text(error) {
    const [sqnr, most] = words(error);
    const finding = error.finding && `. ${error.finding}`;
    return `${error.amount === Infinity ? sqnr : `${sqnr}, off by up to ${most}`}${finding}`;
  }

  /** @param {string} id @returns {[string, string][]} */
  rows(id) {
    const error = this.nodes.get(id);
    if (!error) return [];
    const [sqnr, most] = words(error);
    /** @type {[string, string][]} */
    const rows = [
      ["Signal to error", sqnr],
      ["Largest error", most],
      ["Measured", this.origin],
    ];
    if (error.reason) rows.splice(2, 0, ["Too much", error.reason]);
    if (error.finding) rows.unshift(["First", error.finding]);
    return rows;
  }

  legend() {
    return {
      scale: [`${FAINT_DB} dB`, `${FAINT_DB / 2} dB`, "0 dB"],
      note: this.origin,
      hint: "Signal to quantization error (SQNR); 20 dB are a factor of 10",
      choosing: "",
    };
  }
}

/** @param {number} ratio */
const decibels = (ratio) => `${threeDigits(ratio).replace("-", "−")} dB`;

/** @param {NodeError} error @returns {[string, string]} */
const words = ({ amount, relative }) => [
  amount === Infinity ? "no error" : decibels(amount),
  `${threeDigits(relative * 100)} % of its largest value`,
];

/** @type {OverlayKind} */
export const ERRORS = {
  id: "errors",
  title: "Error of a node",
  heading: "Error",
  plural: "Errors of nodes",
  key: "x",
  available: "after errors were measured",
  icon: "M2 13 6 9.5 9 11 14 3M10.5 3H14v3.5",
  load: (json) => new Errors(json),
};
