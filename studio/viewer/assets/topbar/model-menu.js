// @ts-check
// The open model, and a menu of what else can be opened: a menu button as WAI-ARIA describes it.

import { Disclosure } from "../page/disclosure.js";
import { fill, h, icon } from "../page/dom.js";
import { counted } from "../page/numbers.js";

/** @typedef {{id: string, title: string, nodes: number, open: boolean}} Choice */
/** @typedef {{title: string, models: Choice[]}} Section */

const DOWN = "M4.5 6.5 8 10l3.5-3.5";
const CHOOSER = ".st-key-chooser button"; // of the Model page
const EXPAND = "[data-testid=stExpandSidebarButton]";
const PATIENCE_MS = 60_000;
const HOLD_MS = 3000; // the page may be drawn once more, and what had the focus be replaced

export class ModelMenu {
  constructor() {
    this.name = h("span");
    this.button = h(
      "button.bar-model",
      { "aria-haspopup": "menu", "aria-controls": "bar-models" },
      this.name,
      icon(DOWN),
    );
    this.list = h("div.bar-panel", { id: "bar-models", role: "menu", "aria-label": "Models" });
    this.el = h("div.bar-part", this.button, this.list);
    this.disclosure = new Disclosure(this.button, this.list, () => this.#opened());
    this.said = "";
    this.typed = { text: "", at: 0 };
    this.button.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
      if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
      e.preventDefault();
      e.stopPropagation();
      this.disclosure.open();
      if (e.key === "ArrowUp") this.items.at(-1)?.focus();
    });
    this.list.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.#down(e));
  }

  /** @param {import("../topbar.js").BarComponent} component */
  update(component) {
    this.component = component;
    const { title, sections } = component.data;
    const said = JSON.stringify(component.data);
    if (said === this.said) return;
    this.said = said;
    this.name.textContent = title;
    this.button.title = title;
    this.button.setAttribute("aria-label", `${title}: open another model`);
    fill(
      this.list,
      sections.map((section) => this.#section(section)),
      this.#item("menuitem", { "data-go": "model" }, "Open a file…"),
    );
  }

  /** @param {Section} section */
  #section({ title, models }) {
    return h(
      "div",
      { role: "group", "aria-label": title },
      h("div.bar-title", { "aria-hidden": "true" }, title),
      models.map((model) =>
        this.#item(
          "menuitemradio",
          { "aria-checked": String(model.open), "data-model": model.id },
          h("span", model.title),
          h("small", counted(model.nodes, "node")),
        ),
      ),
    );
  }

  /** @param {string} role @param {Record<string, string>} attributes @param {...(Node | string)} children */
  #item(role, attributes, ...children) {
    const props = { type: "button", role, tabindex: -1, ...attributes };
    return h("button", { ...props, onclick: (/** @type {any} */ e) => this.#chosen(e) }, children);
  }

  /** @returns {HTMLElement[]} */
  get items() {
    return [...this.list.querySelectorAll("button")];
  }

  #opened() {
    const { items } = this;
    (items.find((item) => item.ariaChecked === "true") ?? items[0])?.focus();
  }

  /** @param {{currentTarget: HTMLElement}} event */
  #chosen({ currentTarget: { dataset } }) {
    this.disclosure.close();
    this.button.focus({ preventScroll: true });
    if (dataset.model) this.component?.setTriggerValue("model", dataset.model);
    else {
      this.component?.setTriggerValue("go", "model");
      focusWhenThere(CHOOSER);
    }
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    const { items } = this;
    const at = items.indexOf(/** @type {any} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const goal = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    if (e.key === "Tab") this.disclosure.close();
    else if (e.key in goal) {
      items[(goal[e.key] + items.length) % items.length]?.focus();
    } else if (e.key.length === 1 && e.key !== " " && !e.ctrlKey && !e.metaKey)
      this.#find(e.key, at);
    else return;
    if (e.key !== "Tab") e.preventDefault();
    e.stopPropagation();
  }

  /** The next item that begins with what was typed. @param {string} key @param {number} at */
  #find(key, at) {
    const now = performance.now();
    const text = now - this.typed.at < 700 ? this.typed.text + key : key;
    this.typed = { text, at: now };
    const { items } = this;
    const from = text.length > 1 ? at : at + 1;
    const ordered = [...items.slice(from), ...items.slice(0, from)];
    const begins = (/** @type {HTMLElement} */ item) =>
      item.textContent?.toLowerCase().startsWith(text.toLowerCase());
    ordered.find(begins)?.focus();
  }
}

/** The place where a file is chosen may be on a page yet to come, or folded away. @param {string} selector */
function focusWhenThere(selector) {
  let ended = performance.now() + PATIENCE_MS;
  const elsewhere = () => (ended = 0); // who goes on to something else keeps it
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, elsewhere, { once: true });
  /** @type {HTMLElement | null} */ let focused = null;
  const poll = () => {
    if (performance.now() > ended) return;
    /** @type {HTMLElement | null} */ const folded = document.querySelector(EXPAND);
    folded?.click();
    /** @type {HTMLElement | null} */ const found = document.querySelector(selector);
    if (found !== focused && found?.checkVisibility()) {
      found.focus();
      if (!focused) ended = performance.now() + HOLD_MS;
      focused = found;
    }
    requestAnimationFrame(poll);
  };
  poll();
}
