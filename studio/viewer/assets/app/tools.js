// @ts-check
// The column of buttons at the right of the graph.

import { OVERLAYS } from "../overlays/registry.js";
import { button, h, iconButton } from "../page/dom.js";
import { saveDrawing } from "../canvas/export.js";
import { showAll } from "../canvas/framing.js";

const ICONS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3 14 14",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  follow: "M8 1v3M8 12v3M1 8h3M12 8h3M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  both: "M1.5 3h13v10h-13zM8 3v10",
  over: "M2 2h8v8H2zM6 6h8v8H6z",
  after: "M1.5 3h13v10h-13z",
  left: "M1.5 3h13v10h-13zM6 3v10",
  right: "M1.5 3h13v10h-13zM10 3v10",
  save: "M8 2v8M4.5 6.5 8 10l3.5-3.5M2.5 13.5h11",
};

/** @param {Context} context @param {Shell} shell */
export function makeTools(context, shell) {
  const { state, actions } = context;
  const { stage } = shell;
  /** @param {keyof typeof ICONS} name @param {string} label @param {() => void} act */
  const tool = (name, label, act) => iconButton(label, ICONS[name], act);
  const panes = [
    tool("both", "Both panes (1)", () => shell.setPanes(1)),
    tool("over", "Overlay (2)", () => shell.setPanes(2)),
    tool("after", "After only (3)", () => shell.setPanes(3)),
  ];
  const follow = tool("follow", "Follow the change while stepping", () =>
    actions.toggleFollowing(),
  );
  const left = tool("left", "Passes panel (p)", () => shell.toggle("left"));
  const right = tool("right", "Details panel (d)", () => shell.toggle("right"));
  const el = h(
    "div.pl-tools",
    { role: "toolbar", "aria-label": "View", "aria-orientation": "vertical" },
    left,
    right,
    h("span.pl-group", { role: "group", "aria-label": "Panes" }, panes),
    follow,
    OVERLAYS.map((kind) => overlayButton(kind, context)),
    tool("search", "Find a node (/)", () => shell.search.open()),
    tool("minus", "Zoom out (−)", () => stage.zoom(0.8)),
    tool("plus", "Zoom in (+)", () => stage.zoom(1.25)),
    saving(stage),
    tool("fit", "Fit the graph (f)", () => showAll(stage, state.ms(200))),
    stage.minimap.el,
  );
  return { el, panes, follow, left, right };
}

/** Shown where there is something to show. @param {OverlayKind} kind @param {Context} context */
function overlayButton({ id, plural, key, icon }, { state, actions }) {
  const label = `${plural} as colours (${key})`;
  const button = iconButton(label, icon, () => actions.toggleOverlay(id));
  button.hidden = true;
  state.watch(["overlays", "wanted"], () => {
    button.hidden = !state.overlays.has(id);
    button.setAttribute("aria-pressed", String(!button.hidden && state.wanted === id));
  });
  return button;
}

/** A button with a choice of two: the drawing as it stands, as SVG or PNG. @param {Stage} stage */
function saving(stage) {
  const choose = (/** @type {"svg" | "png"} */ kind) => {
    const name = kind.toUpperCase();
    return button(`Save the drawing one sees as ${name}`, name, () => {
      show(false);
      void saveDrawing(stage, kind);
    });
  };
  const props = { role: "group", "aria-label": "Save as", hidden: true };
  const menu = h("span.pl-save", props, choose("svg"), choose("png"));
  const opener = iconButton("Save this drawing", ICONS.save, () => show(menu.hidden));
  const show = (/** @type {boolean} */ open) => {
    menu.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
  };
  show(false);
  return h("span.pl-saving", opener, menu);
}
