// @ts-check
// What a pass says of itself when one hovers over it.

import { h } from "./dom.js";

export const EXACTNESS = new Map([
  ["exact", ["=", "exact: outputs stay bit-identical"]],
  ["reassociates", ["≈", "reassociates: same mathematics, rounding may differ"]],
  ["lossy", ["≲", "lossy: gives precision away, within a budget"]],
]);

/** @param {import("./types.js").PassRecord} p @param {string} exactness */
export function about(p, exactness) {
  const parts = [h("b", null, p.title)];
  if (p.summary) parts.push(h("div", null, p.summary));
  if (p.before || p.after)
    parts.push(
      h(
        "div.pl-beforeafter",
        null,
        h("code", null, p.before ?? ""),
        h("span", null, "→"),
        h("code", null, p.after ?? ""),
      ),
    );
  parts.push(h("div.pl-dim", null, exactness));
  return parts;
}
