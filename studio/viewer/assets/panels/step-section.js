// @ts-check
// The steps that touch what is selected: how many, one after the other, or played alone.

import { button, fill, h } from "../page/dom.js";
import { whole } from "../page/numbers.js";
import { savings } from "../trace/savings.js";

const FIRST = 10; // links of a pass, before somebody asks for all

export class StepSection {
  /** @param {import("../app/actions.js").Context} context @param {string} title */
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
    if (!s?.trace || !selection) {
      fill(this.el);
      return;
    }
    if (this.shownOf !== selection.id) this.whole.clear();
    this.shownOf = selection.id;
    const { steps } = selection;
    const count = steps.length ? `${whole(steps.length)} of ${whole(s.steps.length)}` : "none";
    fill(
      this.el,
      h("h3", this.title, " ", h("span.pl-num", count)),
      steps.length && this.#buttons(steps),
      steps.length && this.#saved(s, steps),
      this.#passes(s, steps),
    );
  }

  /** @param {number[]} steps */
  #buttons(steps) {
    const { session, playing, only } = this.state;
    const at = session?.step ?? 0;
    const move = (
      /** @type {string} */ label,
      /** @type {string} */ text,
      /** @type {1 | -1} */ way,
    ) => {
      const b = button(label, text, () => this.actions.touchBy(way));
      b.disabled = way > 0 ? steps[steps.length - 1] <= at : steps[0] >= at;
      return b;
    };
    const alone = only !== null && playing;
    const play = button(
      alone ? "Pause (space)" : "Play the steps that touch it, and no others",
      alone ? "Pause" : "Play only these",
      () => this.actions.playOnly(steps),
    );
    return h(
      "div.pl-actions",
      move("Previous step that touches it (,)", "◂ Previous", -1),
      move("Next step that touches it (.)", "Next ▸", 1),
      play,
    );
  }

  /** What these steps changed together. @param {import("../session/session.js").Session} s @param {number[]} steps */
  #saved(s, steps) {
    const facts = savings(steps.map((n) => s.steps[n - 1].delta ?? {}));
    const words = facts.map(([v, t]) => h("span", h("b", v), ` ${t}`));
    return facts.length ? h("div.pl-facts", words) : null;
  }

  /** @param {import("../session/session.js").Session} s @param {number[]} steps */
  #passes(s, steps) {
    /** @type {Map<number, number[]>} */
    const by = new Map();
    for (const n of steps) {
      const { pass } = s.steps[n - 1];
      const list = by.get(pass);
      if (list) list.push(n);
      else by.set(pass, [n]);
    }
    return [...by].map(([pass, list]) => this.#pass(s, pass, list));
  }

  /** @param {import("../session/session.js").Session} s @param {number} pass @param {number[]} list */
  #pass(s, pass, list) {
    const record = s.trace?.passes[pass];
    const swatch = h("i.pl-swatch");
    swatch.style.background = this.state.theme?.family(record?.family ?? "") ?? "";
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
    return h(
      "div.pl-touch",
      swatch,
      h("span", record?.title ?? ""),
      h("span.pl-num", whole(list.length)),
      h(
        "div",
        links,
        rest > 0 && button("Show all its steps", `and ${whole(rest)} more`, all, "pl-link"),
      ),
    );
  }
}
