// @ts-check
// The list of primitives: each can be switched off, taken out, dragged, and gone to. Why one cannot
// be applied stands at it.

import { button, fill, h } from "../page/dom.js";
import { reorderable, reveal } from "../page/reorder.js";
import { funcColour } from "./nest.js";
import { moved, stepOf, switched, without } from "./list-edits.js";

const HOW = "Primitives. Alt and arrow keys move one, Delete takes it out, Space switches it.";

export class PrimitiveList {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.list = h("ol.sl-list", { "aria-label": HOW });
    reorderable(this.list, ".sl-grip", (from, to) => this.#move(from, to));
    this.count = h("span.pl-num");
    this.empty = h("p.pl-empty", "No primitives: loops run as the algorithm has its axes.");
    this.el = h(
      "section.sl-primitives",
      { "aria-label": "Schedule" },
      h("h3", "In which order ", this.count),
      h("div.sl-scroll", this.list, this.empty),
    );
    this.list.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.#down(e));
    state.watch(["draft"], () => this.render());
    state.watch(["step"], () => this.#mark());
  }

  render() {
    const { draft } = this.state;
    const { row, part } = this.#focused();
    fill(
      this.list,
      draft.primitives.map((_, at) => this.#row(at)),
    );
    this.count.textContent = draft.primitives.length ? String(draft.primitives.length) : "";
    this.empty.hidden = draft.primitives.length > 0;
    this.#mark();
    if (row >= 0) this.focus(Math.min(row, draft.primitives.length - 1), part);
  }

  /** Which row has the keyboard, and which part of it. */
  #focused() {
    const active = /** @type {ShadowRoot} */ (this.list.getRootNode()).activeElement;
    const li = active?.closest?.(".sl-list li");
    const row = li ? [...this.list.children].indexOf(li) : -1;
    return { row, part: /** @type {HTMLElement | null} */ (active)?.dataset?.part ?? "text" };
  }

  /** @param {number} row @param {string} [part] */
  focus(row, part = "text") {
    this.list.children[row]?.querySelector(`[data-part=${part}]`)?.focus({ preventScroll: false });
  }

  /** @param {number} at */
  #row(at) {
    const { draft, waiting, data, theme } = this.state;
    const on = !draft.off.includes(at);
    const text = draft.texts[at];
    const func =
      data?.subject.funcs.findIndex(({ name }) => name === draft.primitives[at].func) ?? -1;
    const dot = h("i.pl-swatch");
    dot.style.background = funcColour(theme, func).solid;
    const box = h("input", {
      type: "checkbox",
      "data-part": "switch",
      "aria-label": `Apply ${text}`,
      onchange: () => this.state.edit(switched(this.state.draft, at), this.state.step),
    });
    box.checked = on;
    const go = h(
      "button",
      { "data-part": "text", title: text, onclick: () => this.#go(at) },
      dot,
      h("code", text),
    );
    const out = button(`Take out ${text}`, "×", () => this.#takeOut(at), "pl-x");
    out.dataset.part = "out";
    const li = h(
      "li",
      h("span.sl-grip", { title: "Drag to another place" }, h("span.pl-num", String(at + 1))),
      box,
      go,
      out,
      this.#why(at, on),
    );
    li.classList.toggle("sl-off", !on);
    li.classList.toggle("sl-waiting", waiting);
    return li;
  }

  /** @param {number} at @param {boolean} on */
  #why(at, on) {
    const { draft, steps, waiting } = this.state;
    const step = steps[stepOf(draft, at)];
    if (!on || waiting || !step) return null;
    if (step.refusal) return h("p.sl-refused", `Left out: ${step.refusal}.`);
    return step.pending ? h("p.sl-pending", `Not yet: ${step.pending}.`) : null;
  }

  /** Which row made the nest that is shown. */
  #mark() {
    const { applied, step } = this.state;
    const here = step ? applied[step - 1] : -1;
    [...this.list.children].forEach((li, at) => {
      li.classList.toggle("sl-here", at === here);
      li.classList.toggle("sl-ahead", here < at);
      li.querySelector("[data-part=text]")?.setAttribute(
        "aria-current",
        at === here ? "step" : "false",
      );
      if (at === here) reveal(li);
    });
  }

  /** @param {number} at */
  #go(at) {
    if (!this.state.draft.off.includes(at)) this.state.goto(stepOf(this.state.draft, at));
  }

  /** @param {number} at */
  #takeOut(at) {
    const { state } = this;
    state.say(`Taken out: ${state.draft.texts[at]}.`);
    state.edit(
      without(state.draft, at),
      Math.max(0, Math.min(state.step, stepOf(state.draft, at)) - 1),
    );
  }

  /** @param {number} from @param {number} to */
  #move(from, to) {
    const { state } = this;
    if (to < 0 || to >= state.draft.primitives.length || to === from) return;
    state.say(`Primitive ${from + 1} is number ${to + 1} now.`);
    const draft = moved(state.draft, from, to);
    this.focus(from);
    state.edit(draft, stepOf(draft, to));
    this.focus(to);
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    const { row } = this.#focused();
    if (row < 0) return;
    const by = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (by && e.altKey) this.#move(row, row + by);
    else if (by) this.focus(Math.max(0, Math.min(this.list.children.length - 1, row + by)));
    else if (e.key === "Delete" || e.key === "Backspace") this.#takeOut(row);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
