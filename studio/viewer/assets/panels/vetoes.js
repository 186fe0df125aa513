// @ts-check
// The rewrites that must not happen, right below the head of the passes.

import { button, h } from "../page/dom.js";

/**
 * @param {import("../app/actions.js").Context} context
 * @param {(id: string) => string} nodeName
 * @param {{open: boolean, toggle: () => void}} fold whether they are listed
 */
export function vetoList(context, nodeName, { open, toggle }) {
  const list = context.state.data?.pipeline?.vetoed ?? [];
  if (!list.length) return null;
  const head = h(
    "button",
    { "aria-expanded": open, "data-focus": "vetoed", onclick: toggle },
    `Vetoed ${list.length} ${open ? "▾" : "▸"}`,
  );
  const rows = open
    ? [
        h(
          "ul",
          list.map((veto) => row(context, veto, nodeName)),
        ),
      ]
    : [];
  return h("section.pl-vetoed", head, rows);
}

/**
 * @param {import("../app/actions.js").Context} context
 * @param {{match: string, rule: string, root: string}} veto
 * @param {(id: string) => string} nodeName
 */
function row(context, veto, nodeName) {
  const { session: s } = context.state;
  const held = s?.trace?.vetoed?.find((v) => v.match === veto.match);
  const { rule, root } = held ?? veto;
  const known = s?.union.index.has(root) === true;
  const show = h(
    "button",
    {
      disabled: !known,
      title: known ? "Show this node" : veto.match,
      onclick: () => context.actions.select(root, { reveal: true }),
    },
    root ? `${rule || "Rewrite"} at ${nodeName(root)}` : `Rewrite ${veto.match}`,
  );
  const idle = s?.trace?.vetoed && !held ? h("span.pl-dim", "not offered now") : null;
  const restore = () => context.actions.allow(veto.match);
  return h(
    "li",
    show,
    idle,
    button("Let this rewrite happen again", "restore", restore, "pl-link"),
  );
}
