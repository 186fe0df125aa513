// @ts-check
// The keyboard: on the whole page, wherever nobody types. Inside this component handled keys, and
// Streamlit's own r and c, go no further.

import { isMeantFor, isMeantForThePage } from "../page/keyboard.js";
import { commandsOf } from "./commands.js";

const IN_SIGHT = 0.6; // of its height: a page may hold more than the viewer
/** @type {Map<string, "up" | "down" | "left" | "right">} */
const WAYS = new Map([
  ["ArrowUp", "up"],
  ["ArrowDown", "down"],
  ["ArrowLeft", "left"],
  ["ArrowRight", "right"],
]);

export class Keys {
  /** @param {Context} context @param {Shell} shell */
  constructor(context, shell) {
    this.context = context;
    this.shell = shell;
    shell.root.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.#down(e));
    this.onPage = (/** @type {KeyboardEvent} */ e) => this.#elsewhere(e);
    document.addEventListener("keydown", this.onPage);
  }

  dispose() {
    document.removeEventListener("keydown", this.onPage);
  }

  /** A key pressed outside the viewer. @param {KeyboardEvent} e */
  #elsewhere(e) {
    const { root, help } = this.shell;
    if (e.defaultPrevented || e.composedPath().includes(root)) return;
    if (help.active) {
      if (e.key === "Escape" || e.key === "?") help.close();
      return;
    }
    if (e.ctrlKey || e.metaKey || "rRcC".includes(e.key)) return;
    if (isMeantForThePage(e) || !this.#inSight() || !this.#handle(e)) return;
    e.preventDefault();
  }

  #inSight() {
    const { root } = this.shell;
    const { top, bottom, height } = root.getBoundingClientRect();
    const seen = Math.min(bottom, window.innerHeight) - Math.max(top, 0);
    return root.checkVisibility() && seen > Math.min(height, window.innerHeight) * IN_SIGHT;
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    const { help } = this.shell;
    const target = /** @type {HTMLElement} */ (e.composedPath()[0]);
    if (help.active) {
      e.stopPropagation();
      if (!["Escape", "?", "Tab"].includes(e.key)) return;
      e.preventDefault();
      if (e.key !== "Tab") help.close();
    } else if (isMeantFor(target, e.key)) e.stopPropagation();
    else if (e.ctrlKey || e.metaKey) return;
    else if ("rRcC".includes(e.key)) e.stopPropagation();
    else if (this.#handle(e)) {
      e.preventDefault();
      e.stopPropagation();
    }
  }

  /** @param {KeyboardEvent} e @returns {boolean} */
  #handle(e) {
    const way = e.altKey || e.shiftKey ? WAYS.get(e.key) : undefined;
    const command = commandsOf(this.context, this.shell).find(({ keys }) =>
      Object.hasOwn(keys, e.key),
    );
    if (way) this.context.actions.walk(way);
    else command?.keys[e.key]();
    return way !== undefined || command !== undefined;
  }
}
