// @ts-check
// What a pass says of itself when one hovers over it, and what the signs in the list mean.

import { h } from "../page/dom.js";

/** Kind: its sign, what it means, and that in a few words. */
const EXACTNESS = new Map([
  ["exact", ["=", "exact: outputs stay bit-identical", "bit-identical"]],
  [
    "reassociates",
    ["≈", "reassociates: same mathematics, rounding may differ", "rounding may differ"],
  ],
  ["lossy", ["≲", "lossy: gives precision away, within a budget", "less precise"]],
]);

/** @param {string} exactness @returns {string} */
export const meaningOf = (exactness) => EXACTNESS.get(exactness)?.[1] ?? exactness;

/** The sign of a pass or a step, said in words to whoever hovers or listens. @param {string} exactness */
export function exactnessSign(exactness) {
  const meaning = meaningOf(exactness);
  const sign = EXACTNESS.get(exactness)?.[0] ?? "";
  return h("span.pl-exact", { role: "img", title: meaning, "aria-label": meaning }, sign);
}

/** One line that explains the signs in a list of passes. @param {PassRecord[]} passes */
export function exactnessKey(passes) {
  const used = new Set(passes.map((p) => p.exactness));
  const words = [...EXACTNESS].filter(([kind]) => used.has(kind)).map(([, e]) => `${e[0]} ${e[2]}`);
  return words.length ? h("p.pl-signs", words.join("   ")) : null;
}

/** @param {PassRecord} p @param {string} exactness */
export const about = ({ title, summary, before = "", after = "" }, exactness) => [
  h("b", title),
  summary && h("div", summary),
  (before || after) && h("div.pl-beforeafter", h("code", before), h("span", "→"), h("code", after)),
  h("div.pl-dim", exactness),
];
