// @ts-check
// The line above each pane: what it shows, and where one is.

import { Comparison } from "../session/comparison.js";
import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("../session/session.js").Session} Session */

/**
 * @param {Session} s
 * @param {import("../session/session.js").Which} which
 * @param {Stage} stage
 * @returns {(Node | string)[]}
 */
export function paneHeader(s, which, stage) {
  if (stage.single) return [h("b", s.graph.name), count(s.afterCursor.total)];
  if (s instanceof Comparison) return sideHeader(s, which, stage);
  if (which === "before") {
    const label = s.before === "source" ? "source" : `step ${Math.max(0, s.step - 1)}`;
    return [
      h("b", "BEFORE"),
      h("span.pl-dim", `· ${label}`),
      count(s.beforeCursor.total),
      beforeSwitch(s, stage),
    ];
  }
  const step = s.step ? `· step ${s.step}` : "· source";
  if (which === "overlay") {
    return [
      h("b", "OVERLAY"),
      h("span.pl-dim", step),
      count(s.afterCursor.total),
      legend("removed", "pl-removed"),
      legend("added", "pl-added"),
      legend("changed", "pl-changed"),
      beforeSwitch(s, stage),
    ];
  }
  const waiting = s.trace ? "" : stage.busy ? "optimizing" : "no rewrites yet";
  return [
    h("b", "AFTER"),
    h("span.pl-dim", step),
    count(s.afterCursor.total),
    h("span.pl-dim", waiting),
  ];
}

/**
 * Of two pipelines: which one, and how it ends.
 * @param {Comparison} s @param {import("../session/session.js").Which} which @param {Stage} stage
 */
function sideHeader(s, which, stage) {
  const name = (/** @type {0 | 1} */ side) =>
    h(`span.pl-side.pl-${side ? "second" : "first"}`, side ? "B" : "A");
  const parts = (/** @type {0 | 1} */ side, /** @type {number} */ total) => [
    name(side),
    h("b", s.sides[side].name),
    count(total),
  ];
  if (which === "before") return parts(0, s.beforeCursor.total);
  const end = button("End the comparison", "×", () => stage.host.endComparison(), "pl-x");
  const both =
    which === "overlay" ? [...parts(0, s.beforeCursor.total), h("span.pl-dim", "·")] : [];
  return [...both, ...parts(1, s.afterCursor.total), end];
}

/** @param {number} n */
const count = (n) => h("span.pl-num", counted(n, "node"));

/** @param {string} text @param {string} cls */
const legend = (text, cls) => h(`span.pl-legend.${cls}`, text);

/** @param {Session} s @param {Stage} stage */
function beforeSwitch(s, stage) {
  const option = (
    /** @type {"source" | "previous"} */ value,
    /** @type {string} */ text,
    /** @type {string} */ hint,
  ) =>
    h(
      "button",
      {
        title: hint,
        "aria-pressed": s.before === value,
        onclick: () => stage.host.setBefore(value),
      },
      text,
    );
  return h(
    "span.pl-seg.pl-push",
    { role: "group", "aria-label": "Compare with" },
    option("source", "source", "Compare with the graph as it was loaded"),
    option("previous", "previous", "Compare with the graph one rewrite earlier"),
  );
}
