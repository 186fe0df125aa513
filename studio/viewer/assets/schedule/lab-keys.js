// @ts-check
// The keyboard: steps, playing, undo, another primitive; on the whole page, wherever nobody types.

import { isMeantFor, isMeantForThePage } from "../page/keyboard.js";

/** @typedef {() => void} Act */

export class LabKeys {
  /** @param {HTMLElement} root @param {Record<string, Act>} acts by key; with Ctrl as `ctrl+z` */
  constructor(root, acts) {
    this.root = root;
    this.acts = acts;
    root.addEventListener("keydown", (e) => this.#inside(e));
    this.onPage = (/** @type {KeyboardEvent} */ e) => this.#elsewhere(e);
    document.addEventListener("keydown", this.onPage);
  }

  dispose() {
    document.removeEventListener("keydown", this.onPage);
  }

  /** @param {KeyboardEvent} e */
  #inside(e) {
    const target = /** @type {HTMLElement} */ (e.composedPath()[0]);
    if (isMeantFor(target, e.key)) e.stopPropagation();
    else if (this.#handle(e)) {
      e.preventDefault();
      e.stopPropagation();
    } else if ("rRcC".includes(e.key)) e.stopPropagation(); // Streamlit's own
  }

  /** @param {KeyboardEvent} e */
  #elsewhere(e) {
    if (e.defaultPrevented || e.composedPath().includes(this.root)) return;
    const { top, bottom } = this.root.getBoundingClientRect();
    const seen = Math.min(bottom, window.innerHeight) - Math.max(top, 0);
    if (isMeantForThePage(e) || seen < window.innerHeight / 2) return;
    if (this.#handle(e)) e.preventDefault();
  }

  /** @param {KeyboardEvent} e */
  #handle(e) {
    const held = e.ctrlKey || e.metaKey;
    if (e.altKey) return false;
    const key = held ? `ctrl+${e.shiftKey ? "shift+" : ""}${e.key.toLowerCase()}` : e.key;
    const act = Object.hasOwn(this.acts, key) ? this.acts[key] : null;
    act?.();
    return act !== null;
  }
}
