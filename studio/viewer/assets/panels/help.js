// @ts-check
// What every key does, and the sheet that says so.

import { OVERLAYS } from "../overlays/registry.js";
import { fill, h } from "../page/dom.js";

/** @returns {[string, string][]} */
const overlayKeys = () =>
  OVERLAYS.map(({ key, plural, available }) => [
    key,
    `${plural.toLowerCase()} as colours, ${available}`,
  ]);

/** @type {[string, string][]} */
const HELP = [
  ["← →", "previous, next step"],
  ["[ ]", "previous, next pass"],
  [", .", "previous, next step that touches what is selected"],
  ["space", "play or pause"],
  ["wheel", "on the strip of steps: step, or zoom where one bar is several steps"],
  ["Home End", "source, last step"],
  ["1 2 3", "both panes, overlay, after only"],
  ["f", "fit the whole graph"],
  ["g", "go to the change"],
  ["+ −", "zoom"],
  ["/", "find a node, a group or a step"],
  ["alt + arrows", "follow edges from the selected node"],
  ["u", "select the group around it"],
  ["o", "open or close that group; so does a double click, or a click on its arrow"],
  ["e", "open all groups; in a large graph one level more"],
  ["shift + e", "fold all groups"],
  ["0", "back to the first picture"],
  ["p", "passes panel"],
  ["d", "details panel"],
  ["esc", "clear the selection, close"],
  ["?", "these keys"],
];

/** @type {[string, string][]} */
const FILM_HELP = [
  ["← →", "previous, next event"],
  ["↑ ↓ or [ ]", "previous, next node"],
  ["space", "play or pause"],
  ["< >", "slower, faster"],
  ["Home End", "nothing allocated, last event"],
  ["f", "fit the whole graph"],
  ["+ −", "zoom the graph"],
  ["/", "find a node or a group"],
  ["g", "go to where the selected node runs"],
  ["alt + arrows", "follow edges from the selected node"],
  ["u", "select the group around the selected node"],
  ["o", "open or close that group; so does a double click, or a click on its arrow"],
  ["e", "open all groups; in a large graph one level more"],
  ["shift + e", "fold all groups"],
  ["0", "back to the first picture"],
  ["d", "details panel"],
  ["esc", "clear the selection, close"],
  ["?", "these keys"],
];

/** The sheet of keys: it has the keyboard until it is closed, and gives it back. */
export class Help {
  constructor() {
    this.sheet = h("div.pl-sheet", { tabindex: 0 });
    this.el = h(
      "div.pl-help",
      {
        role: "dialog",
        "aria-modal": "true",
        "aria-label": "Keys",
        hidden: true,
        onclick: () => this.close(),
      },
      this.sheet,
    );
    /** @type {HTMLElement | null} who had the keyboard */ this.before = null;
  }

  get active() {
    return !this.el.hidden;
  }

  /** @param {string} mode of the viewer */
  open(mode) {
    const rows = (mode === "film" ? FILM_HELP : HELP.toSpliced(-2, 0, ...overlayKeys())).map(
      ([key, text]) => h("div", h("kbd", key), h("span", text)),
    );
    fill(this.sheet, h("h2", "Keys"), rows);
    this.before = this.el.getRootNode().activeElement;
    this.el.hidden = false;
    this.sheet.focus({ preventScroll: true });
  }

  close() {
    this.el.hidden = true;
    this.before?.focus({ preventScroll: true });
  }
}
