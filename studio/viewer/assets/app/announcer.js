// @ts-check
// For those who do not see the canvas: a spoken line, and a list of what is drawn that can be
// walked.

import { fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

const MOST = 300;

export class Announcer {
  /** @param {Context} context */
  constructor(context) {
    this.state = context.state;
    this.actions = context.actions;
    this.line = h("div.pl-hidden", { role: "status", "aria-live": "polite" });
    this.list = h("ul", { "aria-label": "Nodes that are drawn" });
    const summary = h("summary", "Nodes as a list");
    this.details = h("details.pl-twin", { ontoggle: () => this.twin() }, summary, this.list);
    const { state } = context;
    state.watch(["said"], () => {
      this.line.textContent = state.said;
    });
    state.watch(["rest"], () => this.#step());
    state.watch(["chosen"], () => this.#selection());
    state.watch(["folding"], () => this.twin());
  }

  /** Where one has arrived. */
  #step() {
    const { session: s } = this.state;
    if (!s) return;
    const { current: step } = s;
    const total = counted(s.afterCursor.total, "node");
    if (!step) {
      this.actions.say(`Source graph, ${total}.`);
      return;
    }
    const changes = `${step.removed.length} removed, ${step.added.length} added`;
    this.actions.say(
      `Step ${step.n} of ${s.steps.length}. ${s.titleOf(step)}: ${changes}. ${total}.`,
    );
    this.twin();
  }

  #selection() {
    const { session: s, selection } = this.state;
    if (!s || !selection) return;
    const { group, node: o, steps } = selection;
    if (group)
      this.actions.say(
        `Group ${group.name}. ${s.tally.after[group.at]} nodes, ${steps.length} steps.`,
      );
    if (o === undefined) return;
    const { op, name, in: inputs = [], out } = s.history.record(o, s.step);
    const type = `${out?.[0]?.[2] ?? ""} ${out?.[0]?.[3] ?? ""}`;
    this.actions.say(`${op} ${name}. ${counted(inputs.length, "input")}. Output ${type}.`);
  }

  /** Fill the list, where somebody has it open. */
  twin() {
    const { session: s } = this.state;
    if (!s || !this.details.open) return;
    const { boxes } = s.picture("after");
    const rows = boxes.slice(0, MOST).map((box) => h("li", this.#button(s, box)));
    if (boxes.length > MOST)
      rows.push(h("li", `and ${boxes.length - MOST} more: fold groups, or search with /`));
    fill(this.list, rows);
  }

  /** @param {Session} s @param {Box} box */
  #button(s, { group, kind, rec }) {
    if (!group) {
      const select = () => this.actions.select(rec?.id ?? null, { reveal: true });
      return h("button", { onclick: select }, `${rec?.op} ${rec?.name}`);
    }
    const toggle = () => this.actions.toggle(group);
    const nodes = counted(s.tally.after[group.at], "node");
    const props = { "aria-expanded": kind === "open", onclick: toggle };
    return h("button", props, `${group.name}, group of ${nodes}`);
  }
}
