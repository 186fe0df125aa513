// @ts-check
// How long it takes: guessed for every step, and measured on demand, which is kept for a step as long
// as the steps before it are the same.

import { fill, h } from "../page/dom.js";
import { microseconds, threeDigits, timesText } from "../page/numbers.js";
import { change } from "./meters.js";

export const NOT_GUESSED = "not guessed: runs on a GPU";

export class MeasuredView {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.button = h(
      "button.sl-measure",
      { title: "Run it in turns with the first schedule (t)", onclick: () => this.measure() },
      "Measure this step",
    );
    this.guess = h("p.sl-figure");
    this.machine = h("p.pl-dim");
    this.body = h("div", { role: "status" });
    this.el = h(
      "section.sl-measured",
      { "aria-label": "Time" },
      h("h3", "Time"),
      this.guess,
      this.machine,
      this.button,
      this.body,
    );
    state.watch(["step"], () => this.render());
  }

  get #known() {
    return this.state.data?.times.find(({ step }) => step === this.state.step);
  }

  measure() {
    const known = this.#known;
    if (this.state.waiting || known?.state === "running" || known?.state === "done") return;
    this.state.post("time", { step: this.state.step });
    fill(this.body, h("p.pl-dim", "Compiling and running it."));
  }

  render() {
    const known = this.#known;
    const first = this.state.data?.subject.orders[0]?.name ?? "the first";
    this.button.hidden = known?.state === "running" || known?.state === "done";
    fill(this.body, wordsOf(known, first));
    this.#guess();
  }

  #guess() {
    const { shown, before } = this.state;
    this.guess.hidden = !shown;
    this.machine.hidden = !shown || shown.predicted_us === null;
    if (!shown) return;
    const { machine = "", machine_source: source = "" } = this.state.data?.view ?? {};
    fill(this.machine, `for ${machine}`);
    this.machine.title = source;
    const { predicted_us: now } = shown;
    if (now === null) {
      fill(this.guess, NOT_GUESSED);
      return;
    }
    fill(
      this.guess,
      h("b", microseconds(now)),
      " guessed",
      change(now, before?.predicted_us ?? null),
    );
  }
}

/** @param {import("./types.js").Times | undefined} known @param {string} first name of a schedule */
function wordsOf(known, first) {
  if (!known) return null;
  if (known.state === "running") return h("p.pl-dim", "Compiling and running it.");
  if (known.state === "failed") return h("p.sl-refused", known.why ?? "");
  const { median_ms: median = 0, least_ms: least = 0, first_ms: other = 0, runs = 0 } = known;
  return [
    h(
      "p.sl-figure",
      h("b", `${threeDigits(median)} ms`),
      ` ${timesText(other / median)} as fast as ${first}`,
    ),
    h(
      "p.pl-dim",
      `median of ${runs} runs in turns with ${first} (${threeDigits(other)} ms); least ${threeDigits(least)} ms; this machine, one after another`,
    ),
  ];
}
