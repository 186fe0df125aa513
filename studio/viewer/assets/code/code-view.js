// @ts-check
// The section in one piece: code, or the difference of two.

import { fill, h } from "../page/dom.js";
import { applyColours, readTheme } from "../page/theme.js";
import { DifferenceView } from "./difference-view.js";
import { LinkedView } from "./linked-view.js";

/** @typedef {import("./types.js").CodeComponent} CodeComponent */

export class CodeView {
  /** @param {HTMLElement} home */
  constructor(home) {
    this.home = home;
    this.stamp = "";
    /** @type {LinkedView | DifferenceView | null} */ this.view = null;
    this.root = h("div.pl-root.cl-root");
    fill(home, this.root);
  }

  /** @param {CodeComponent} component */
  update({ data }) {
    applyColours(this.root, readTheme(this.home));
    const stamp = JSON.stringify(data);
    if (stamp === this.stamp) return;
    this.stamp = stamp;
    const report = () => this.#report();
    this.view =
      data.kind === "code" ? new LinkedView(data, report) : new DifferenceView(data, report);
    fill(this.root, this.view.el);
    report();
  }

  /** What tests look at. */
  #report() {
    const all = /** @type {any} */ (window);
    all.__passlens_code = this.view?.report() ?? null;
  }
}
