// @ts-check
// What several cards show alike: nodes and steps as buttons, what steps changed, the verdict on the
// outputs, what a pass says of itself and the sign of how exact it is.

import { button, h, prose } from "../page/dom.js";
import { FLOP } from "../page/numbers.js";

/**
 * A node as a button that shows it.
 * @param {Context} context @param {string} id @param {string} [text] its operator, else
 */
export function nodeChip({ state, actions }, id, text) {
  const rec = state.session?.node(id);
  const show = () => actions.select(id, { reveal: true });
  const chip = h("button.pl-chip", { title: rec?.name, onclick: show }, text ?? rec?.op ?? id);
  if (text) return chip;
  chip.style.borderLeftColor = state.theme?.category(rec?.cat ?? "unknown").solid ?? "";
  return chip;
}

/**
 * The first of them, and how many more there are.
 * @param {string[]} ids @param {number} most @param {(id: string, i: number) => Node} chip
 */
export const chips = (ids, most, chip) =>
  h(
    "div.pl-chips",
    ids.slice(0, most).map(chip),
    ids.length > most && h("span.pl-dim", `and ${ids.length - most} more`),
  );

/**
 * @param {Context} context @param {number} n a step
 * @param {number | null} [target] its number here; null where both pipelines do it
 */
export const stepLink = ({ actions }, n, target = n) =>
  target === null
    ? h("span", { title: "Both pipelines do this step" }, `step ${n}`)
    : button(`Go to step ${n}`, `step ${n}`, () => actions.goto(target), "pl-link");

/** @param {Context} context @param {string} match that was vetoed */
export const restoreLink = ({ actions }, match) =>
  button("Let this rewrite happen again", "restore", () => actions.vetoing.allow(match), "pl-link");

/** @param {Context} context */
export const clearButton = ({ actions }) =>
  button("Clear the selection (esc)", "×", () => actions.select(null), "pl-x");

/** What steps changed: amounts, and of what. @param {[string, string][]} facts */
export const factsLine = (facts) =>
  h(
    "div.pl-facts",
    facts.map(([value, what]) =>
      h("span", { title: value.endsWith("FLOP") ? FLOP : null }, h("b", value), ` ${what}`),
    ),
  );

const SIGNS = new Map([
  ["running", "…"],
  ["equal", "✓"],
  ["differs", "≠"],
  ["within", "≲"],
  ["exceeds", "≠"],
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
  const words = [...EXACTNESS]
    .filter(([kind]) => used.has(kind))
    .map(([, e]) => `${e[0]} ${e[2]}`.replaceAll(" ", "\u00a0"));
  return words.length ? h("p.pl-signs", words.join("   ")) : null;
}

/** @param {PassRecord} p @param {string} exactness */
export const about = ({ title, summary, before = "", after = "", missing }, exactness) => [
  h("b", title),
  summary && h("div", prose(summary)),
  (before || after) && h("div.pl-beforeafter", h("code", before), h("span", "→"), h("code", after)),
  h("div.pl-dim", exactness),
  missing && h("div.pl-dim", missing),
];
