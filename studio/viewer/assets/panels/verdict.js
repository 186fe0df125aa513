// @ts-check
// Whether the outputs are still the same: one quiet line, a sign and words.

import { h } from "../page/dom.js";

const SIGNS = new Map([
  ["running", "…"],
  ["equal", "✓"],
  ["differs", "≠"],
  ["not_run", "–"],
]);

/**
 * @param {import("../types.js").Verified | null | undefined} verified
 * @param {boolean} [spoken] in one place only
 * @returns {HTMLElement | null}
 */
export function verdictLine(verified, spoken = false) {
  if (!verified?.text) return null;
  return h(
    "p.pl-verdict",
    { "data-verdict": verified.verdict, role: spoken ? "status" : null },
    h("span.pl-sign", { "aria-hidden": "true" }, SIGNS.get(verified.verdict) ?? "–"),
    h("span", verified.text),
  );
}
