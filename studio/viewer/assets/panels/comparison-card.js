// @ts-check
// The card of two pipelines: what both make of the network, and which rewrites only one of them made.

import { h, sideSign, table } from "../page/dom.js";
import { amount, counted } from "../page/numbers.js";

/** @typedef {import("../session/comparison.js").Side} Side */

const LISTED_AT_ONCE = 20; // steps of the only pass

/** @param {Context} context @param {Comparison} s */
export function comparisonCard(context, s) {
  const [a, b] = s.sides;
  const same = !s.steps.length;
  return [
    h("p.pl-dim", "Two pipelines, one network"),
    h("h2", `${a.name} against ${b.name}`),
    totals(a, b),
    h(
      "p",
      same
        ? `Both make the same ${counted(s.both, "rewrite")}.`
        : `${counted(s.both, "rewrite")} in both. Click one that differs to see its place.`,
    ),
    ...(same ? [] : s.sides.map((side, i) => only(context, s, side, i))),
  ];
}

/** @param {Side} a @param {Side} b */
function totals({ trace: { totals: a } }, { trace: { totals: b } }) {
  const rows = /** @type {[string, "nodes" | "flops" | "bytes", string][]} */ ([
    ["Nodes", "nodes", ""],
    ["FLOPs", "flops", "FLOP"],
    ["Bytes moved", "bytes", "B"],
  ]).flatMap(([name, key, unit]) => {
    const values = [a?.[key]?.[0], a?.[key]?.[1], b?.[key]?.[1]].filter((v) => v !== undefined);
    return values.length < 3 ? [] : [[name, ...values.map((v) => amount(v, unit))]];
  });
  return table(rows, ["", "source", "A", "B"]);
}

/** @param {Context} context @param {Comparison} s @param {Side} side @param {number} index */
function only(context, s, side, index) {
  const passes = Map.groupBy(side.only, (step) => step.pass);
  const folds = [...passes].map(([pass, steps]) =>
    h(
      "details",
      { open: passes.size === 1 && steps.length < LISTED_AT_ONCE },
      h("summary", s.trace?.passes[pass]?.title, h("span.pl-num", String(steps.length))),
      h("ul", steps.map(place(context, s))),
    ),
  );
  const head = `Only with ${side.name}: ${counted(side.only.length, "rewrite")}`;
  return h("section.pl-only", h("h3", sideSign(index, { "aria-hidden": true }), head), folds);
}

/** @param {Context} context @param {Comparison} s @returns {(step: StepRecord) => Node} */
const place = (context, s) => (step) => {
  const rec = s.node(step.root);
  const go = () => context.actions.goto(step.n);
  return h("li", h("button", { onclick: go, title: step.rule }, rec?.name || rec?.op || step.rule));
};
