// @ts-check
// The card of two pipelines: what both make of the network, and which rewrites only one of them made.

import { h } from "../page/dom.js";
import { amount, counted } from "../page/numbers.js";

/** @typedef {import("../session/comparison.js").Comparison} Comparison */
/** @typedef {import("../session/comparison.js").Side} Side */

/** @param {import("../app/actions.js").Context} context @param {Comparison} s */
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
    ...(same ? [] : [only(context, s, a, 0), only(context, s, b, 1)]),
  ];
}

/** @param {Side} a @param {Side} b */
function totals(a, b) {
  const row = (
    /** @type {string} */ name,
    /** @type {"nodes" | "flops" | "bytes"} */ key,
    /** @type {string} */ unit,
  ) => {
    const values = [
      a.trace.totals?.[key]?.[0],
      a.trace.totals?.[key]?.[1],
      b.trace.totals?.[key]?.[1],
    ];
    if (values.some((v) => v === undefined)) return null;
    return h(
      "tr",
      h("th", { scope: "row" }, name),
      values.map((v) => h("td", amount(/** @type {number} */ (v), unit))),
    );
  };
  const heads = ["source", "A", "B"].map((text) => h("th", { scope: "col" }, text));
  return h(
    "table",
    h("thead", h("tr", h("td"), heads)),
    h(
      "tbody",
      row("Nodes", "nodes", ""),
      row("FLOPs", "flops", "FLOP"),
      row("Bytes moved", "bytes", "B"),
    ),
  );
}

/** @param {import("../app/actions.js").Context} context @param {Comparison} s @param {Side} side @param {0 | 1} index */
function only(context, s, side, index) {
  /** @type {Map<number, import("../types.js").StepRecord[]>} */
  const passes = new Map();
  for (const step of side.only) {
    const list = passes.get(step.pass);
    if (list) list.push(step);
    else passes.set(step.pass, [step]);
  }
  const folds = [...passes].map(([pass, steps]) =>
    h(
      "details",
      { open: passes.size === 1 && steps.length < 20 },
      h("summary", s.trace?.passes[pass]?.title ?? "", h("span.pl-num", String(steps.length))),
      h(
        "ul",
        steps.map((step) => place(context, s, step)),
      ),
    ),
  );
  return h(
    "section.pl-only",
    h(
      "h3",
      h(
        `span.pl-side.pl-${index ? "second" : "first"}`,
        { "aria-hidden": "true" },
        index ? "B" : "A",
      ),
      `Only with ${side.name}: ${counted(side.only.length, "rewrite")}`,
    ),
    folds,
  );
}

/** @param {import("../app/actions.js").Context} context @param {Comparison} s @param {import("../types.js").StepRecord} step */
function place(context, s, step) {
  const o = s.union.index.get(step.root);
  const rec = o === undefined ? null : s.union.recs[o];
  return h(
    "li",
    h(
      "button",
      { onclick: () => context.actions.goto(step.n), title: step.rule },
      rec ? rec.name || rec.op : step.rule,
    ),
  );
}
