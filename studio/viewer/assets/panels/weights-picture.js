// @ts-check
// The little picture of a step that touches no node: which weights go, and which one stays.

import { h } from "../page/dom.js";
import { amount, counted, signed } from "../page/numbers.js";

/** @typedef {import("../types.js").WeightsRecord} WeightsRecord */

const MOST = 3; // drawn one by one

/** @param {WeightsRecord} weights */
export function weightsPicture({ count, bytes, dropped, kept }) {
  const gone = dropped.slice(0, MOST).map((weight) => chip(weight, "pl-removed"));
  const more = count - gone.length;
  const copies = count + 1;
  return h(
    "figure.pl-weights",
    h(
      "div",
      kept && chip(kept, "pl-matched"),
      gone,
      more > 0 && h("span.pl-dim", `and ${counted(more, "more", "more")}`),
    ),
    h("span.pl-arrow", { "aria-hidden": "true" }, "→"),
    h("div", kept ? chip(kept, "pl-matched") : h("span.pl-dim", "not read")),
    h(
      "figcaption",
      kept
        ? `${counted(copies, "copy", "copies")} → 1, ${signed(-bytes, "B")}`
        : `${counted(count, "unused weight")} → 0, ${signed(-bytes, "B")}`,
    ),
  );
}

/** @param {[string, string, string, number]} weight @param {string} cls */
function chip([name, dtype, shape, bytes], cls) {
  return h(
    `div.pl-weight.${cls}`,
    { title: name },
    h("b", `${dtype} ${shape}`.trim()),
    h("span.pl-dim", amount(bytes, "B")),
    h("span.pl-path", name.split("/").at(-1) ?? ""),
  );
}
