// @ts-check
// Share: one click copies the link of what one sees, and shows it, should the clipboard refuse.

import { Disclosure } from "../page/disclosure.js";
import { fill, h, icon } from "../page/dom.js";
import { copyText, pageLink } from "../page/link.js";

const ARROW = "M8 10V2M5 4.8 8 2l3 2.8M3 8v5.5h10V8";
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

export class SharePanel {
  constructor() {
    this.button = h(
      "button.bar-share",
      { "aria-haspopup": "dialog", "aria-controls": "bar-link" },
      icon(ARROW),
      h("span", "Share"),
    );
    this.said = h("p.bar-said", { role: "status" });
    this.link = h("input", {
      readonly: true,
      "aria-label": "Link to what you see",
      onfocus: (/** @type {any} */ e) => e.target.select(),
    });
    this.note = h("p");
    this.panel = h(
      "div.bar-panel.bar-link",
      { id: "bar-link", role: "dialog", "aria-label": "Share" },
      this.said,
      this.link,
      this.note,
      h("button.bar-export", { onclick: () => this.#export() }, "Export model, trace or picture…"),
    );
    this.el = h("div.bar-part", this.button, this.panel);
    this.disclosure = new Disclosure(this.button, this.panel, () => this.#copy());
  }

  /** @param {import("../topbar.js").BarComponent} component */
  update(component) {
    this.component = component;
  }

  async #copy() {
    const text = pageLink();
    this.link.value = text;
    fill(this.said, "Copying the link");
    fill(
      this.note,
      LOCAL.has(window.location.hostname)
        ? "Opens the same view in any browser on this machine."
        : "Opens the same model, passes, step and selection on this server.",
    );
    const copied = await copyText(text, this.button);
    if (this.panel.hidden) return;
    fill(this.said, copied ? "Link copied" : "The browser refused to copy; the link is selected:");
    if (!copied) this.link.focus({ preventScroll: true });
  }

  #export() {
    this.disclosure.close();
    this.component?.setTriggerValue("go", "export");
  }
}
