// @ts-check
// The rewrites that must not happen, below the passes.

import { button, h } from "./dom.js";

/**
 * @param {import("./viewer.js").Viewer} viewer
 * @param {(id: string) => string} nodeName
 */
export function vetoList(viewer, nodeName) {
  const list = viewer.data?.pipeline?.vetoed ?? [];
  if (!list.length) return null;
  const rows = list.map((v) => {
    const known = viewer.session?.union.index.has(v.root) === true;
    const show = h(
      "button",
      {
        type: "button",
        disabled: !known,
        title: known ? "Show this node" : v.match,
        onclick: () => viewer.select(v.root, { reveal: true }),
      },
      v.root ? `${v.rule || "Rewrite"} at ${nodeName(v.root)}` : `Rewrite ${v.match}`,
    );
    const restore = () => viewer.trigger("unveto", v.match);
    return h(
      "li",
      null,
      show,
      button("Let this rewrite happen again", "restore", restore, "pl-link"),
    );
  });
  return h("section.pl-vetoed", null, h("h3", null, `Vetoed ${list.length}`), h("ul", null, ...rows));
}
