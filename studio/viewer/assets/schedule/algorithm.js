// @ts-check
// What is computed: inputs, and Funcs with their formulas. No schedule changes any of it.

import { fill, h } from "../page/dom.js";
import { funcColour } from "./nest.js";

export class AlgorithmView {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.list = h("ul.sl-funcs");
    this.el = h(
      "section.sl-algorithm",
      { "aria-label": "Algorithm" },
      h("h3", "What is computed"),
      this.list,
    );
    this.said = "";
    state.watch(["data"], () => this.render());
  }

  render() {
    const { data, theme } = this.state;
    if (!data) return;
    const said = JSON.stringify([data.subject.funcs, data.subject.inputs, theme?.dark]);
    if (said === this.said) return;
    this.said = said;
    const { inputs, funcs } = data.subject;
    fill(
      this.list,
      inputs.map(({ name, dtype, shape }) =>
        h("li.sl-input", h("i.pl-swatch"), h("code", `${name}: ${dtype}[${shape.join(", ")}]`)),
      ),
      funcs.map((func, at) =>
        h(
          "li",
          dot(funcColour(theme, at).solid),
          h("code", { title: func.formula }, ...formulaOf(func)),
        ),
      ),
    );
  }
}

/** @param {string} colour */
function dot(colour) {
  const el = h("i.pl-swatch");
  el.style.background = colour;
  return el;
}

/** @param {import("./types.js").FuncText} func */
function formulaOf({ name, formula, over, axes, output }) {
  const sizes = axes.map(([, extent]) => extent).join(" × ");
  return [
    h("b", name),
    formula.slice(name.length),
    over && h("span.pl-dim", ` over ${over}`),
    h("small", `${sizes}${output ? ", output" : ""}`),
  ];
}
