// @ts-check
// For those who do not see the canvas: a spoken line, and a list of what is drawn that can be
// walked.

import { fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

const MOST = 300;

export class Announcer {
  /** @param {import("./actions.js").Context} context */
  constructor(context) {
    this.state = context.state;
    this.actions = context.actions;
    this.line = h("div.pl-hidden", { role: "status", "aria-live": "polite" });
    this.list = h("ul", { "aria-label": "Nodes that are drawn" });
    this.details = h(
      "details.pl-twin",
      { ontoggle: () => this.twin() },
      h("summary", "Nodes as a list"),
      this.list,
    );
  }

  /** @param {string} text */
  say(text) {
    this.line.textContent = text;
  }

  step() {
    const s = this.state.session;
    if (!s) return;
    const step = s.current;
    if (!step) {
      this.say(`Source graph, ${counted(s.afterCursor.total, "node")}.`);
      return;
    }
    const pass = s.trace?.passes[step.pass];
    this.say(
      `Step ${step.n} of ${s.steps.length}. ${pass?.title ?? step.rule}: ${step.removed.length} removed, ${step.added.length} added. ${counted(s.afterCursor.total, "node")}.`,
    );
    this.twin();
  }

  selection() {
    const { session: s, selected } = this.state;
    if (!s || selected === null) return;
    const o = s.union.index.get(selected);
    const { group, steps = [] } = this.state.selection ?? {};
    if (group)
      this.say(`Group ${group.name}. ${s.counts("after")[group.at]} nodes, ${steps.length} steps.`);
    if (o === undefined) return;
    const rec = s.history.record(o, s.step);
    const out = rec.out?.[0];
    this.say(
      `${rec.op} ${rec.name}. ${counted(rec.in?.length ?? 0, "input")}. Output ${out?.[2] ?? ""} ${out?.[3] ?? ""}.`,
    );
  }

  /** Fill the list, where somebody has it open. */
  twin() {
    const { session: s } = this.state;
    if (!s || !this.details.open) return;
    const { boxes } = s.picture("after");
    const rows = boxes.slice(0, MOST).map((b) =>
      h(
        "li",
        b.group
          ? h(
              "button",
              {
                "aria-expanded": b.kind === "open",
                onclick: () => this.actions.toggle(/** @type {any} */ (b.group)),
              },
              `${b.group.name}, group of ${counted(s.counts("after")[b.group.at], "node")}`,
            )
          : h(
              "button",
              { onclick: () => this.actions.select(b.rec?.id ?? null, { reveal: true }) },
              `${b.rec?.op} ${b.rec?.name}`,
            ),
      ),
    );
    if (boxes.length > MOST)
      rows.push(h("li", `and ${boxes.length - MOST} more: fold groups, or search with /`));
    fill(this.list, rows);
  }
}
