// @ts-check
// The steps that touch what is selected: how many, one after the other, or played alone.

import { savings, whole } from "../page/numbers.js";
import { button, fill, h, swatch } from "../page/dom.js";
import { factsLine } from "./parts.js";

const FIRST = 10; // links of a pass, before somebody asks for all

export class StepSection {
  /** @param {Context} context @param {string} title */
  constructor(context, title) {
    this.state = context.state;
    this.actions = context.actions;
    this.title = title;
    /** @type {Set<number>} passes of which all steps are shown */ this.whole = new Set();
    this.shownOf = "";
    this.el = h("section.pl-steps");
  }

  /** Empty where there is no trace. */
  render() {
    const { selection, session: s } = this.state;
    this.el.hidden = !s?.trace || !selection;
    fill(this.el, s?.trace && selection && this.#about(s, selection));
  }

  /** @param {Session} s @param {Selected} selection */
  #about(s, { id, steps }) {
    if (this.shownOf !== id) this.whole.clear();
    this.shownOf = id;
    const count = steps.length ? `${whole(steps.length)} of ${whole(s.steps.length)}` : "none";
    const facts = savings(steps.map((n) => s.steps[n - 1].delta ?? {}));
    const by = Map.groupBy(steps, (n) => s.steps[n - 1].pass);
    return [
      h("h3", this.title, " ", h("span.pl-num", count)),
      steps.length > 0 && this.#buttons(steps),
      facts.length > 0 && factsLine(facts),
      ...[...by].map(([pass, list]) => this.#pass(s, pass, list)),
    ];
  }

  /** @param {number[]} steps */
  #buttons(steps) {
    const { session, playing, only } = this.state;
    const at = session?.step ?? 0;
    const back = () => this.actions.touchBy(-1);
    const on = () => this.actions.touchBy(1);
    const previous = button("Previous step that touches it (,)", "◂ Previous", back);
    const next = button("Next step that touches it (.)", "Next ▸", on);
    previous.disabled = steps[0] >= at;
    next.disabled = steps[steps.length - 1] <= at;
    const [label, text] =
      only !== null && playing
        ? ["Pause (space)", "Pause"]
        : ["Play the steps that touch it, and no others", "Play only these"];
    const play = button(label, text, () => this.actions.playback.toggleOnly(steps));
    return h("div.pl-actions", previous, next, play);
  }

  /** @param {Session} s @param {number} pass @param {number[]} list */
  #pass(s, pass, list) {
    const record = s.trace?.passes[pass];
    const shown = this.whole.has(pass) ? list : list.slice(0, FIRST);
    const rest = list.length - shown.length;
    const links = shown.map((n) => {
      const b = button(`Go to step ${n}`, String(n), () => this.actions.goto(n), "pl-link");
      if (n === s.step) b.setAttribute("aria-current", "step");
      return b;
    });
    const all = () => {
      this.whole.add(pass);
      this.render();
    };
    const more = `and ${whole(rest)} more`;
    return h(
      "div.pl-touch",
      swatch(this.state.theme?.family(record?.family ?? "")),
      h("span", record?.title),
      h("span.pl-num", whole(list.length)),
      h("div", links, rest > 0 && button("Show all its steps", more, all, "pl-link")),
    );
  }
}
