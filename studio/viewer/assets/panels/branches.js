// @ts-check
// Pipelines that were tried over this model, as a tree: go back to one, or see it beside the present.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

const INDENT = 12;
const DEEPEST = 6; // steps of indentation

/** @typedef {import("../types.js").BranchRecord} BranchRecord */

/**
 * Folded away unless it is open; nothing as long as nothing was tried.
 * @param {Context} context @param {{open: boolean, toggle: () => void}} fold
 */
export function branchTree(context, { open, toggle }) {
  const listed = context.state.data?.branches ?? [];
  if (listed.length < 2) return null;
  const head = button("Pipelines that were tried", `Tried ${listed.length}`, toggle, "pl-link");
  head.setAttribute("aria-expanded", String(open));
  head.dataset.focus = "branches";
  const rows =
    open && h("ul", { "aria-label": "Pipelines that were tried" }, listed.map(row(context)));
  return h("section.pl-branches", head, rows);
}

/** @param {Context} context @returns {(branch: BranchRecord) => Node} */
const row = (context) => (branch) => {
  const { place, depth, change, nodes, here, versus } = branch;
  const beside = context.state.data?.versus?.id === versus;
  const count = nodes === null ? "" : counted(nodes, "node");
  const go = h(
    "button",
    {
      "aria-current": here ? "true" : null,
      "data-focus": `b:${place}`,
      title: here ? "What is shown" : "Go back to this pipeline",
      onclick: () => !here && context.actions.send("branch", place),
    },
    h("span", change),
    h("span.pl-num", count),
  );
  const compare = button(
    beside ? `Compare no more with ${change}` : `Compare with ${change}`,
    "⇄",
    () => context.actions.send("pipeline", { versus: beside ? "" : versus }),
    "pl-icon",
  );
  compare.setAttribute("aria-pressed", String(beside));
  compare.dataset.focus = `v:${place}`;
  const el = h("li", go, !here && compare);
  el.style.paddingLeft = `${Math.min(depth, DEEPEST) * INDENT}px`;
  el.classList.toggle("pl-here", here);
  return el;
};
