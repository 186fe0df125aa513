// @ts-check
// The line above each pane: what it shows, and where one is.

import { Comparison } from "../session/comparison.js";
import { button, h, segments, sideSign } from "../page/dom.js";
import { counted } from "../page/numbers.js";

/** @param {Session} s @param {Which} which @param {Stage} stage @returns {(Node | string)[]} */
export function paneHeader(s, which, stage) {
  if (stage.single) return [h("b", s.graph.name), count(s.afterCursor.total)];
  if (s instanceof Comparison) return sideHeader(s, which, stage);
  const { before, step } = s;
  const back = before === "source" ? "source" : `step ${Math.max(0, step - 1)}`;
  if (which === "before")
    return [...title("BEFORE", back, s.beforeCursor.total), beforeSwitch(s, stage)];
  const now = step ? `step ${step}` : "source";
  if (which === "overlay") {
    const signs = ["removed", "added", "changed"].map((t) => h(`span.pl-legend.pl-${t}`, t));
    return [...title("OVERLAY", now, s.afterCursor.total), ...signs, beforeSwitch(s, stage)];
  }
  const waiting = s.trace ? "" : stage.state.data?.busy ? "optimizing" : "no rewrites yet";
  return [...title("AFTER", now, s.afterCursor.total), dim(waiting)];
}

/** @param {string} pane @param {string} where @param {number} nodes */
const title = (pane, where, nodes) => [h("b", pane), dim(where), count(nodes)];

/** @param {string} text */
const dim = (text) => h("span.pl-dim", text);

/**
 * Of two pipelines: which one, and how it ends.
 * @param {Comparison} s @param {Which} which @param {Stage} stage
 */
function sideHeader({ sides, beforeCursor, afterCursor }, which, stage) {
  const [a, b] = [beforeCursor, afterCursor].map(({ total }, side) => [
    sideSign(side),
    h("b", sides[side].name),
    count(total),
  ]);
  if (which === "before") return a;
  const end = button(
    "End the comparison",
    "×",
    () => stage.host.actions.send("pipeline", { versus: "" }),
    "pl-x",
  );
  return [...(which === "overlay" ? [...a, dim("·")] : []), ...b, end];
}

/** @param {number} n */
const count = (n) => h("span.pl-num", counted(n, "node"));

/** @type {{id: "source" | "previous", text: string, hint: string}[]} */
const BEFORE = [
  { id: "source", text: "source", hint: "Compare with the graph as it was loaded" },
  { id: "previous", text: "previous", hint: "Compare with the graph one rewrite earlier" },
];

/** @param {Session} s @param {Stage} stage */
function beforeSwitch(s, stage) {
  const pick = (/** @type {"source" | "previous"} */ id) => stage.host.actions.setBefore(id);
  return segments("Compare with", BEFORE, s.before, pick, "pl-seg.pl-push");
}
