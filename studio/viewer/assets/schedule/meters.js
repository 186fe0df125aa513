// @ts-check
// What pulls against each other: parallelism, redundant work, locality; each with what this step
// made of it.

import { fill, h } from "../page/dom.js";
import { amount, bytesText, threeDigits, timesText } from "../page/numbers.js";
import { funcName } from "./func-name.js";

/** @typedef {import("./types.js").Meters} Meters */
/** @typedef {import("./types.js").StepView} StepView */

const SAME = 0.005; // a share that nobody would notice

export class MetersView {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.el = h("section.sl-meters", { "aria-label": "Meters" });
    state.watch(["step", "theme"], () => this.render());
  }

  render() {
    const { shown, before } = this.state;
    if (!shown) return;
    const [now, then] = [shown.meters, before?.meters ?? null];
    fill(this.el, this.#parallelism(now, then), this.#work(now, then), this.#locality(now, then));
  }

  /** @param {Meters} now @param {Meters | null} then */
  #parallelism(now, then) {
    const at = (/** @type {Meters} */ m) => m.tasks * m.lanes;
    const most = Math.max(
      ...this.state.steps.map(({ meters }) => Math.max(meters.independent, at(meters))),
    );
    return card(
      "Parallelism",
      h(
        "p.sl-figure",
        h("b", `${whole(now.tasks)} × ${whole(now.lanes)}`),
        " at a time",
        change(at(now), then && at(then), { more: true }),
      ),
      bar(share(at(now), most), then && share(at(then), most)),
      h(
        "p.pl-dim",
        `threads × lanes, of ${whole(now.independent)} rounds that need nothing of each other`,
      ),
    );
  }

  /** @param {Meters} now @param {Meters | null} then */
  #work(now, then) {
    const most = Math.max(2, ...this.state.steps.map(({ meters }) => meters.amplification));
    const rows = now.funcs.filter(
      ({ computed, needed }) => needed > 0 && computed / needed > 1 + SAME,
    );
    return card(
      "Redundant work",
      h(
        "p.sl-figure",
        h("b", timesText(now.amplification)),
        " what is needed",
        change(now.amplification, then?.amplification ?? null),
      ),
      bar((now.amplification - 1) / (most - 1), then && (then.amplification - 1) / (most - 1)),
      h("p.pl-dim", `${amount(now.operations, "")} operations`),
      rows.length > 0 &&
        h(
          "ul.sl-rows",
          rows.map((one) =>
            h(
              "li",
              funcName(this.state, one.func),
              h("span", `${timesText(one.computed / one.needed)} computed`),
            ),
          ),
        ),
    );
  }

  /** @param {Meters} now @param {Meters | null} then */
  #locality(now, then) {
    const most = Math.max(
      ...this.state.steps.flatMap(({ meters }) => meters.moved.map((one) => one.moved_bytes)),
    );
    const again = now.funcs.filter((one) => one.reuse_distance > 0);
    const fits = now.funcs.filter(({ working_set_bytes: held }) => held > 0);
    return card(
      "Locality",
      h(
        "p.sl-figure",
        h("b", bytesText(now.working_set_bytes)),
        " held",
        change(now.working_set_bytes, then?.working_set_bytes ?? null),
      ),
      h(
        "ul.sl-levels",
        now.moved.map((one, at) =>
          h(
            "li",
            h("span", { title: `cache of ${bytesText(one.cache_bytes)}` }, `behind ${one.level}`),
            bar(share(one.moved_bytes, most), then && share(then.moved[at].moved_bytes, most)),
            h("b", bytesText(one.moved_bytes)),
            change(one.moved_bytes, then?.moved[at].moved_bytes ?? null, { short: true }),
          ),
        ),
      ),
      fits.length > 0 &&
        h(
          "ul.sl-rows",
          fits.map((one) =>
            h(
              "li",
              funcName(this.state, one.func),
              h("span", `${bytesText(one.working_set_bytes)} in ${one.fits || "memory"}`),
            ),
          ),
        ),
      again.length > 0 && h("p.pl-dim", "Operations until it is read again"),
      again.length > 0 &&
        h(
          "ul.sl-rows",
          again.map((one) =>
            h("li", funcName(this.state, one.func), h("span", amount(one.reuse_distance, ""))),
          ),
        ),
    );
  }
}

/** @param {string} title @param {...import("../page/dom.js").Child} children */
const card = (title, ...children) => h("section", h("h3", title), ...children);

/** @param {number} value */
const whole = (value) => Math.round(value).toLocaleString("en");

/** On a scale of powers. @param {number} value @param {number} most */
const share = (value, most) => (most > 1 && value > 0 ? Math.log1p(value) / Math.log1p(most) : 0);

/** How much there is, and a tick where it was. @param {number} now 0 to 1 @param {number | null} then */
function bar(now, then) {
  const el = h("span.sl-bar", h("i"), then !== null && h("u"));
  el.style.setProperty("--sl-now", String(Math.min(1, Math.max(0, now))));
  if (then !== null) el.style.setProperty("--sl-then", String(Math.min(1, Math.max(0, then))));
  return el;
}

/**
 * What a step made of a number: more or less, better or worse.
 * @param {number} now @param {number | null} then
 * @param {{more?: boolean, short?: boolean}} [how] whether more of it is better
 */
export function change(now, then, { more = false, short = false } = {}) {
  if (then === null || Math.abs(now - then) <= SAME * Math.max(now, then)) return null;
  const up = now > then;
  const ratio = up ? now / then : then / now;
  const far = Number.isFinite(ratio)
    ? `${threeDigits(ratio)}×`
    : up
      ? "from nothing"
      : "to nothing";
  const words = Number.isFinite(ratio) ? `${far} ${up ? "more" : "less"} than before` : far;
  const kind = up === more ? "sl-better" : "sl-worse";
  return h(
    `span.sl-change.${kind}`,
    { title: `${words}: ${up === more ? "better" : "worse"}` },
    h("span", { "aria-hidden": "true" }, `${up ? "▲" : "▼"} ${far}`),
    !short && h("span.pl-hidden", `${words}, ${up === more ? "better" : "worse"}`),
  );
}
