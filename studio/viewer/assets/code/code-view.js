// @ts-check
// The section in one piece: code for a processor or a GPU, or the difference of two.

import { fill, h } from "../page/dom.js";
import { applyColours, readTheme } from "../page/theme.js";
import { DifferenceView } from "./difference-view.js";
import { LinkedView } from "./linked-view.js";
import { nestLinks } from "./nest-links.js";
import { sourceLinks } from "./source-links.js";

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
    if (data.kind === "difference") this.view = new DifferenceView(data, report);
    else if (data.kind === "gpu") this.view = new LinkedView(data, sourceLinks(data), report);
    else this.view = new LinkedView(data, nestLinks(data), report);
    fill(this.root, this.view.el);
    report();
  }

  /** What tests look at. */
  #report() {
    const all = /** @type {any} */ (window);
    all.__passlens_code = this.view?.report() ?? null;
  }
}
