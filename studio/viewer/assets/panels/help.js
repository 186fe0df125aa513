// @ts-check
// The sheet of keys: it has the keyboard until it is closed, and gives it back.

import { fill, h } from "../page/dom.js";

export class Help {
  /** @param {() => {keys: object, shown?: string, text?: string}[]} commands what it says, once it is opened */
  constructor(commands) {
    this.commands = commands;
    this.sheet = h("div.pl-sheet", { tabindex: 0 });
    const dialog = { role: "dialog", "aria-modal": "true", "aria-label": "Keys" };
    const close = () => this.close();
    this.el = h("div.pl-help", { ...dialog, hidden: true, onclick: close }, this.sheet);
    /** @type {HTMLElement | null} who had the keyboard */ this.before = null;
  }

  get active() {
    return !this.el.hidden;
  }

  open() {
    const rows = this.commands().map(
      ({ keys, text, shown = Object.keys(keys)[0] }) =>
        text && h("div", h("kbd", shown), h("span", text)),
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
