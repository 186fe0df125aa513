// @ts-check
// The rewrites that must not happen, right below the head of the passes.

import { h } from "../page/dom.js";
import { restoreLink } from "./parts.js";

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
