// @ts-check
// What becomes of a model that is being opened while one looks at another: said on every page, with the
// way to the page that goes on with it.

import { fill, h } from "../page/dom.js";

export class OpeningNote {
  constructor() {
    this.el = h("div.bar-opening", { role: "status" });
    this.said = "";
  }

  /** @param {import("../topbar.js").BarComponent} component */
  update(component) {
    this.component = component;
    const { opening } = component.data;
    if (opening === this.said) return;
    this.said = opening;
    const go = () => this.component?.setTriggerValue("go", "model");
    const title = `${opening}. Go to the page Model`;
    fill(this.el, opening && h("button", { type: "button", title, onclick: go }, opening));
  }
}
