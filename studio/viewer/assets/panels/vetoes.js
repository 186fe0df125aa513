// @ts-check
// Rewrites that must not happen: the list of them, right below the head of the passes, and the
// card of the one that was just vetoed: what stays as it is, and what that cost.

import { button, h, swatch } from "../page/dom.js";
import { Comparison } from "../session/comparison.js";
import { counted } from "../page/numbers.js";
import { chips, nodeChip, restoreLink, stepLink } from "./parts.js";
import { costOf } from "./vetoing.js";

const LISTED = 12; // steps written out

/** @param {Context} context @param {import("./vetoing.js").Vetoed} vetoed */
export function vetoCard(context, vetoed) {
  const { step, pass, elsewhere } = vetoed;
  const { state, actions } = context;
  const s = /** @type {Session} */ (state.session);
  const show = () => actions.showChange();
  return [
    h("p.pl-dim", `Vetoed · was step ${step.n}`),
    h("header", swatch(state.theme?.family(pass?.family ?? "")), h("h2", pass?.title ?? step.rule)),
    h("p.pl-rule", step.rule),
    h("p.pl-path", s.node(step.root)?.name ?? step.root),
    h("h3", `${counted(step.matched.length, "node")} as before`),
    chips(step.matched, Infinity, (id) => nodeChip(context, id)),
    h("p.pl-cost", costOf(vetoed)),
    ...elsewhere.map((other) => offer(context, s, other)),
    changes(context, s, vetoed),
    h(
      "div.pl-actions",
      button("Let this rewrite happen again", "Undo", () => actions.vetoing.undo()),
      button("Show the place in the graph (g)", "Show", show),
    ),
    ongoing(context, s),
  ];
}

/**
 * Another pass does something here now: it is not vetoed unless asked.
 * @param {Context} context @param {Session} s @param {StepRecord} step
 */
function offer(context, s, step) {
  const too = () => context.actions.vetoing.ask(step);
  return h(
    "p",
    `${s.titleOf(step)} rewrites this place now, `,
    stepLink(context, step.n, s.ownTarget(step.n)),
    " ",
    button("Do not make that one either", "Veto it too", too, "pl-link"),
  );
}

/** @param {Context} context @param {Session} s @param {import("./vetoing.js").Vetoed} vetoed */
function changes(context, s, { gone, fresh }) {
  const all = gone.length + fresh.length;
  if (!all) return null;
  const lost = gone.slice(0, LISTED).map((step) => h("li", `− ${s.titleOf(step)}`));
  const made = fresh
    .slice(0, LISTED)
    .map((step) =>
      h("li", `+ ${s.titleOf(step)}, `, stepLink(context, step.n, s.ownTarget(step.n))),
    );
  const more = all - lost.length - made.length;
  return h(
    "details.pl-changes",
    { open: all <= 4 },
    h("summary", "Which steps"),
    h("ul", lost, made, more > 0 && h("li", `and ${more} more`)),
  );
}

/** What the step is now, and back to it. @param {Context} context @param {Session} s */
function ongoing({ actions }, s) {
  const go = () => {
    actions.endVeto();
    actions.showChange();
  };
  return (
    s.current &&
    h(
      "p.pl-dim",
      s instanceof Comparison
        ? `Number ${s.step} of those that differ is now `
        : `Step ${s.step} is now `,
      button("Show this rewrite", s.titleOf(s.current), go, "pl-link"),
    )
  );
}

/** @param {Context} context @param {{open: boolean, toggle: () => void}} fold whether they are listed */
export function vetoList(context, { open, toggle }) {
  const list = context.state.data?.pipeline?.vetoed ?? [];
  if (!list.length) return null;
  const head = h(
    "button",
    { "aria-expanded": open, "data-focus": "vetoed", onclick: toggle },
    `Vetoed ${list.length} ${open ? "▾" : "▸"}`,
  );
  return h("section.pl-vetoed", head, open && h("ul", list.map(row(context))));
}

/** @param {Context} context */
const row = (context) => (/** @type {{match: string, rule: string, root: string}} */ veto) => {
  const { session: s } = context.state;
  const held = s?.trace?.vetoed?.find((v) => v.match === veto.match);
  const { rule, root } = held ?? veto;
  const rec = s?.node(root);
  const name = rec ? `${rec.op} ${rec.name.split("/").filter(Boolean).slice(-2).join("/")}` : root;
  return h(
    "li",
    h(
      "button",
      {
        disabled: !rec,
        title: rec ? "Show this node" : veto.match,
        onclick: () => context.actions.select(root, { reveal: true }),
      },
      root ? `${rule || "Rewrite"} at ${name}` : `Rewrite ${veto.match}`,
    ),
    s?.trace?.vetoed && !held && h("span.pl-dim", "not offered now"),
    restoreLink(context, veto.match),
  );
};
