// @ts-check
// What several cards show alike: nodes and steps as buttons, the sign of a pipeline.

import { button, h } from "../page/dom.js";

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

/** @param {Context} context @param {number} n a step @param {number} [target] its number here */
export const stepLink = ({ actions }, n, target = n) =>
  button(`Go to step ${n}`, `step ${n}`, () => actions.goto(target), "pl-link");

/** @param {Context} context @param {string} match that was vetoed */
export const restoreLink = ({ actions }, match) =>
  button("Let this rewrite happen again", "restore", () => actions.vetoing.allow(match), "pl-link");

/** @param {Context} context */
export const clearButton = ({ actions }) =>
  button("Clear the selection (esc)", "×", () => actions.select(null), "pl-x");

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
