// @ts-check
// What a group is and what became of it: nodes before and after, the steps inside it, declined
// inside it.

import { Comparison } from "../session/comparison.js";
import { button, fill, h, section, swatch, table } from "../page/dom.js";
import { counted, whole } from "../page/numbers.js";
import { Press } from "../page/press.js";
import { namesOf } from "../trace/place-names.js";
import { chips, clearButton, nodeChip } from "./parts.js";
import { StepSection } from "./step-section.js";

const OPERATORS = 9; // rows; the rest is summed up
const PLACES = 6; // of a reason

export class GroupCard {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.state = context.state;
    this.actions = context.actions;
    this.steps = new StepSection(context, "Steps inside it");
    this.el = h("section.pl-groupcard", { "aria-label": "Selected group" });
    this.press = new Press(this.el, () => this.render());
  }

  render() {
    if (this.press.holds()) return;
    const { selection, session: s } = this.state;
    const group = selection?.group ?? null;
    this.el.hidden = !group;
    fill(this.el, s && group && selection && this.#about(s, selection, group));
  }

  /** @param {Session} s @param {Selected} selection @param {Group} group */
  #about(s, selection, group) {
    this.steps.render();
    const { actions } = this;
    const fold = s.tree.open[group.at] ? "Close" : "Open";
    const toggle = () => actions.toggle(group);
    const around = () => actions.selectAround();
    return [
      h("header", h("i.pl-swatch.pl-stack"), h("h2", group.name), clearButton(this.context)),
      h("p.pl-path", `Group ${group.id}`),
      this.#became(s, selection),
      h(
        "div.pl-actions",
        button(`${fold} this group (o, or double click)`, `${fold} group`, toggle),
        button("Show the group in the graph", "Show", () => actions.reveal(group.id)),
        selection.around && button("Select the group around it (u)", "Outer group", around),
      ),
      this.steps.el,
      this.#declined(s, selection),
      operators(s, selection),
    ];
  }

  /** In one line. @param {Session} s @param {Selected} selection */
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

  /** Of two pipelines, in one line. @param {Comparison} s @param {Selected} selection */
  #sides(s, selection) {
    const [before, ...after] = total(selection.operators(s.states()), 3);
    const parts = s.sides.map(({ name }, i) => `${whole(after[i])} with ${name}`);
    const text = ` in the source, ${parts.join(", ")}`;
    return h("p.pl-lead", h("b", counted(before, "node")), text);
  }

  /** @param {Session} s @param {Selected} selection */
  #declined(s, selection) {
    const within = new Set(selection.members);
    const inside = (s.trace?.declined ?? []).filter((d) =>
      within.has(s.union.index.get(d.node) ?? -1),
    );
    if (!inside.length) return null;
    const by = Map.groupBy(inside, (d) => `${d.pass}|${d.reason}`);
    return h(
      "section.pl-steps",
      h("h3", "Declined inside it ", h("span.pl-num", String(inside.length))),
      [...by.values()].map((list) => this.#reason(s, list)),
    );
  }

  /** @param {Session} s @param {DeclinedRecord[]} list */
  #reason(s, list) {
    const nodes = [...new Set(list.map((d) => d.node))];
    const names = namesOf(s, nodes, PLACES);
    return h(
      "div.pl-touch",
      swatch(),
      h("span", s.titleOf(list[0])),
      h("span.pl-num", String(list.length)),
      h("p", list[0].reason),
      chips(nodes, PLACES, (id, i) => nodeChip(this.context, id, names[i])),
    );
  }
}

/** Before, now, and in the end. @param {Session} s @param {Selected} selection */
function operators(s, selection) {
  const states = s.states();
  const rows = [...selection.operators(states)];
  const rest = rows.length > OPERATORS + 1 ? rows.splice(OPERATORS) : [];
  const sums = (/** @type {typeof rows} */ list) => total(list, states.length);
  /** @type {[string, number[]][]} */
  const shown = [["All", sums([...rows, ...rest])], ...rows];
  if (rest.length) shown.push([`${rest.length} more kinds`, sums(rest)]);
  const cells = shown.map(([name, counts]) => [name, ...counts.map((n) => (n ? whole(n) : "–"))]);
  const el = table(cells, ["", ...states.map(({ name }) => (s.trace ? name : "nodes"))]);
  el.className = "pl-counts";
  el.tBodies[0].rows[0].className = "pl-sum";
  return section("Operators", el);
}

/** The sum of counts. @param {Iterable<[string, number[]]>} rows @param {number} columns */
function total(rows, columns) {
  const sums = new Array(columns).fill(0);
  for (const [, counts] of rows) for (let i = 0; i < columns; i++) sums[i] += counts[i];
  return sums;
}
