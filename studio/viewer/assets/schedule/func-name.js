// @ts-check
// A Func by its name and colour, as a row of the right column begins.

import { h } from "../page/dom.js";
import { funcColour } from "./nest.js";

/** @param {import("./lab-state.js").LabState} state @param {string} func */
export function funcName({ data, theme }, func) {
  const dot = h("i.pl-swatch");
  const at = data?.subject.funcs.findIndex(({ name }) => name === func) ?? -1;
  dot.style.background = funcColour(theme, at).solid;
  return h("span.sl-name", { title: func }, dot, func);
}
