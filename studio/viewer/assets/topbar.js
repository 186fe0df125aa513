// @ts-check
// The right end of the top bar: the open model with a menu of others, and Share. A component of its
// own, in the page itself: studio/frame/frame.css says how it looks.

import { fill } from "./page/dom.js";
import { hearLeaving } from "./page/link.js";
import { OpeningNote } from "./topbar/opening-note.js";
import { ModelMenu } from "./topbar/model-menu.js";
import { SharePanel } from "./topbar/share-panel.js";

/**
 * @typedef {object} BarData
 * @property {string} title of the open model
 * @property {import("./topbar/model-menu.js").Section[]} sections of the menu
 * @property {string} opening what becomes of another one that was to be opened; or nothing
 */
/**
 * @typedef {object} BarComponent
 * @property {BarData} data
 * @property {any} parentElement
 * @property {(name: "model" | "go", value: string) => void} setTriggerValue
 * @property {(name: "view", value: object) => void} setStateValue
 */

/** @type {WeakMap<object, {note: OpeningNote, menu: ModelMenu, share: SharePanel}>} */
const bars = new WeakMap();

/** Streamlit's drop zone says that it is decoration, and has a name all the same: it is a group. */
const CONTRADICTION = "[data-testid=stFileUploaderDropzone][role=presentation]";

function mendRoles() {
  for (const zone of document.querySelectorAll(CONTRADICTION)) zone.setAttribute("role", "group");
}
mendRoles(); // the bar is on every page, and loaded once
new MutationObserver(mendRoles).observe(document.body, { childList: true, subtree: true });

/** @type {BarComponent | null} the bar stays when the page changes */
let latest = null;
hearLeaving((view) => latest?.setStateValue("view", { ...view, at: performance.now() }));

/** What Streamlit calls, again on every change of data. @param {BarComponent} component */
export default function topBar(component) {
  const parent = component.parentElement;
  latest = component;
  let bar = bars.get(parent);
  if (!bar) {
    bar = { note: new OpeningNote(), menu: new ModelMenu(), share: new SharePanel() };
    bars.set(parent, bar);
    const { note, menu, share } = bar;
    fill(parent.querySelector("[data-passlens-bar]"), note.el, menu.el, share.el);
  }
  bar.note.update(component);
  bar.menu.update(component);
  bar.share.update(component);
}
