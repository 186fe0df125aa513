// @ts-check
// What a group is and what became of it: nodes before and after, the steps inside it, declined
// inside it.

import { Comparison } from "../session/comparison.js";
import { button, fill, h } from "../page/dom.js";
import { counted, whole } from "../page/numbers.js";
import { namesOf } from "../trace/place-names.js";
import { StepSection } from "./step-section.js";

/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../session/selection.js").Selection} Selection */

const OPERATORS = 9; // rows; the rest is summed up
const PLACES = 6; // of a reason

export class GroupCard {
  /** @param {import("../app/actions.js").Context} context */
  constructor(context) {
    this.state = context.state;
    this.actions = context.actions;
    this.steps = new StepSection(context, "Steps inside it");
    this.el = h("section.pl-groupcard", { "aria-label": "Selected group" });
  }

  render() {
    const { selection, session: s } = this.state;
    const group = selection?.group ?? null;
    this.el.hidden = !s || !group;
    if (!s || !group || !selection) {
      fill(this.el);
      return;
    }
    this.steps.render();
    const open = s.tree.open[group.at] === 1;
    const fold = open ? "Close" : "Open";
    fill(
      this.el,
      h(
        "header",
        h("i.pl-swatch.pl-stack"),
        h("h2", group.name),
        button("Clear the selection (esc)", "×", () => this.actions.select(null), "pl-x"),
      ),
      h("p.pl-path", `Group ${group.id}`),
      this.#became(s, selection),
      h(
        "div.pl-actions",
        button(`${fold} this group (o, or double click)`, `${fold} group`, () =>
          this.actions.toggle(group),
        ),
        button("Show the group in the graph", "Show", () => this.actions.reveal(group.id)),
        selection.around &&
          button("Select the group around it (u)", "Outer group", () =>
            this.actions.selectAround(),
          ),
      ),
      this.steps.el,
      this.#declined(s, selection),
      this.#operators(s, selection),
    );
  }

  /** In one line. @param {Session} s @param {Selection} selection */
  #became(s, selection) {
    if (s instanceof Comparison) return this.#sides(s, selection);
    const last = s.steps.length;
    const [before, after] = total(selection.operators([s.stateAt(0), s.stateAt(last)]), 2);
    if (!s.trace) return h("p.pl-lead", h("b", counted(before, "node")));
    return h(
      "p.pl-lead",
      h("b", counted(before, "node")),
      " in the source, ",
      h("b", whole(after)),
      last ? ` after all ${counted(last, "step")}` : " now",
    );
  }

  /** Of two pipelines, in one line. @param {Comparison} s @param {Selection} selection */
  #sides(s, selection) {
    const [before, ...after] = total(selection.operators(s.states()), 3);
    const parts = s.sides.map(({ name }, i) => `${whole(after[i])} with ${name}`);
    const text = ` in the source, ${parts.join(", ")}`;
    return h("p.pl-lead", h("b", counted(before, "node")), text);
  }

  /** Before, now, and in the end. @param {Session} s @param {Selection} selection */
  #operators(s, selection) {
    const steps = s.states();
    const heads = steps.map(({ name }) => (s.trace ? name : "nodes"));
    const rows = [...selection.operators(steps)];
    const rest = rows.length > OPERATORS + 1 ? rows.splice(OPERATORS) : [];
    const shown = rows.map(([op, counts]) => [op, ...counts]);
    if (rest.length) shown.push([`${rest.length} more kinds`, ...total(rest, steps.length)]);
    const all = ["All", ...total([...rows, ...rest], steps.length)];
    return h("section", h("h3", "Operators"), this.#table(["", ...heads], [all, ...shown]));
  }

  /** @param {string[]} heads @param {(string | number)[][]} rows the first is the sum */
  #table(heads, rows) {
    const cells = (/** @type {(string | number)[]} */ row, /** @type {number} */ at) =>
      h(
        at ? "tr" : "tr.pl-sum",
        h("th", { scope: "row" }, String(row[0])),
        row.slice(1).map((n) => h("td", n ? whole(Number(n)) : "–")),
      );
    return h(
      "table.pl-counts",
      h(
        "thead",
        h(
          "tr",
          heads.map((t) => h("th", { scope: "col" }, t)),
        ),
      ),
      h("tbody", rows.map(cells)),
    );
  }

  /** @param {Session} s @param {Selection} selection */
  #declined(s, selection) {
    const within = new Set(selection.members);
    /** @type {Map<string, import("../types.js").DeclinedRecord[]>} */
    const by = new Map();
    let all = 0;
    for (const d of s.trace?.declined ?? []) {
      if (!within.has(s.union.index.get(d.node) ?? -1)) continue;
      all++;
      const list = by.get(`${d.pass}|${d.reason}`);
      if (list) list.push(d);
      else by.set(`${d.pass}|${d.reason}`, [d]);
    }
    if (!all) return null;
    return h(
      "section.pl-steps",
      h("h3", "Declined inside it ", h("span.pl-num", String(all))),
      [...by.values()].map((list) => this.#reason(s, list)),
    );
  }

  /** @param {Session} s @param {import("../types.js").DeclinedRecord[]} list */
  #reason(s, list) {
    const nodes = [...new Set(list.map((d) => d.node))];
    const names = namesOf(s, nodes, PLACES);
    const place = (/** @type {string} */ id, /** @type {number} */ i) => {
      const rec = s.union.recs[/** @type {number} */ (s.union.index.get(id))];
      const show = () => this.actions.select(id, { reveal: true });
      return h("button.pl-chip", { title: rec.name, onclick: show }, names[i]);
    };
    const rest = nodes.length - PLACES;
    return h(
      "div.pl-touch",
      h("i.pl-swatch"),
      h("span", s.trace?.passes[list[0].pass]?.title ?? list[0].rule),
      h("span.pl-num", String(list.length)),
      h("p", list[0].reason),
      h(
        "div.pl-chips",
        nodes.slice(0, PLACES).map(place),
        rest > 0 && h("span.pl-dim", `and ${rest} more`),
      ),
    );
  }
}

/** The sum of counts. @param {Iterable<[string, number[]]>} rows @param {number} columns */
function total(rows, columns) {
  const sums = new Array(columns).fill(0);
  for (const [, counts] of rows) for (let i = 0; i < columns; i++) sums[i] += counts[i];
  return sums;
}
