// @ts-check
// What of the nest costs time and need not, with what to do about it.

import { fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { funcName } from "./func-name.js";

const MOST = 5;

export class WarningsView {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.el = h("section.sl-warnings", { "aria-label": "Warnings" });
    state.watch(["step", "theme"], () => this.render());
  }

  render() {
    const found = this.state.shown?.warnings ?? [];
    this.el.hidden = found.length === 0;
    const left = found.length - MOST;
    fill(
      this.el,
      h("h3", "Warnings"),
      h(
        "ul",
        found.slice(0, MOST).map((one) => this.#row(one)),
      ),
      left > 0 && h("p.pl-dim", `and ${counted(left, "more")}`),
    );
  }

  /** @param {import("./types.js").NestWarning} warning */
  #row({ func, loop, text, advice }) {
    return h(
      "li",
      funcName(this.state, func),
      loop && h("code", loop),
      h("p", text),
      h("p.pl-dim", advice),
    );
  }
}
