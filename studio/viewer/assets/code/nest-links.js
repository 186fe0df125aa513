// @ts-check
// Lines of code linked by the loops of a nest.

import { h } from "../page/dom.js";
import { loopSentence, loopsTable } from "./loops-table.js";
import { Tree } from "./tree.js";

/** @typedef {import("./types.js").CodeData} CodeData */

/** @param {CodeData} data @returns {import("./types.js").Links} */
export function nestLinks(data) {
  const tree = new Tree(data.depths);
  return {
    first: ["nest", "stmt", "asm", "ptx"],
    remembered: "passlens-code-columns",
    untold: "No tool says which loop this line is of.",
    lines: (level, nodes) => tree.lines(level, nodes),
    sentence: (nodes) => nodes.map((node) => loopSentence(data, node)).join(" · "),
    legend: () => legend(data),
    table: (look, leave, pin) => (data.loops.length ? loopsTable(data, look, leave, pin) : null),
  };
}

/** @param {CodeData} data */
function legend(data) {
  const signs = [
    ["zmm", "512", "on vectors of so many bits"],
    ["scalar", "1", "on one number"],
    ["spill", "spill", "to the stack, for want of registers"],
    ["reload", "reload", "and back"],
  ];
  return h(
    "span.cl-legend",
    (data.loops.length ? signs : []).flatMap(([mark, text, told]) => [
      h(`i.cl-${mark}`, text),
      h("span", told),
    ]),
    h("span.pl-num", `compiled for ${data.processor}`),
  );
}
