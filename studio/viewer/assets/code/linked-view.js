// @ts-check
// Columns of code, side by side: a line that is looked at lights what belongs to it in all of them.

import { fill, h } from "../page/dom.js";
import { Column } from "./column.js";

/** @typedef {import("./types.js").CodeData | import("./types.js").GpuData} LinkedData */
/** @typedef {import("./types.js").Links} Links */

export class LinkedView {
  /** @param {LinkedData} data @param {Links} links @param {() => void} changed */
  constructor(data, links, changed) {
    this.data = data;
    this.links = links;
    this.changed = changed;
    /** @type {number[]} */ this.nodes = [];
    /** @type {number[] | null} */ this.pinned = null;
    this.columns = new Map();
    this.shown = shownColumns(data, links);
    this.body = h("div.cl-body");
    this.said = h("p.cl-said", { role: "status" });
    this.toggles = h("span.pl-seg", { role: "group", "aria-label": "Columns" });
    const table = links.table(
      (node) => this.#preview([node], ""),
      () => this.#leave(),
      (node) => this.#pin([node]),
    );
    this.el = h(
      "div.cl-linked",
      h("div.cl-head", this.toggles, links.legend()),
      this.body,
      this.said,
      table && h("div.cl-table", table),
    );
    this.#arrange();
    this.#say([]);
  }

  #arrange() {
    const { levels } = this.data;
    fill(
      this.toggles,
      ...levels.map(({ id, title }) =>
        h(
          "button",
          { "aria-pressed": this.shown.has(id), title, onclick: () => this.#toggle(id) },
          title,
        ),
      ),
    );
    const visible = levels.filter(({ id }) => this.shown.has(id));
    fill(this.body, ...visible.map((level) => this.#column(level).el));
    const widths = visible.map(({ id }) => (id === "nest" || id === "onnx" ? "0.7fr" : "1fr"));
    this.body.style.gridTemplateColumns = widths.map((w) => `minmax(240px, ${w})`).join(" ");
  }

  /** Made when it is first shown. @param {import("./types.js").Level} level @returns {Column} */
  #column(level) {
    const known = this.columns.get(level.id);
    if (known) return known;
    const made = new Column(level, {
      look: (id, line, moved) => this.#look(id, line, moved),
      leave: () => this.#leave(),
      pin: () => this.#pin(this.nodes),
      unpin: () => this.#unpin(),
      go: (id, by) => this.#go(id, by),
    });
    this.columns.set(level.id, made);
    return made;
  }

  /** @param {string} id */
  #toggle(id) {
    if (this.shown.has(id) && this.shown.size > 1) this.shown.delete(id);
    else this.shown.add(id);
    localStorage.setItem(this.links.remembered, [...this.shown].join(" "));
    const on = this.toggles.contains(document.activeElement);
    const at = this.data.levels.findIndex((level) => level.id === id);
    this.#arrange();
    if (on || at >= 0) this.toggles.children[at]?.focus();
    this.#light(this.nodes, "");
  }

  /** @param {string} id @param {number} line @param {boolean} moved */
  #look(id, line, moved) {
    const level = this.data.levels.find((one) => one.id === id);
    const nodes = level?.nodes[line] ?? [];
    if (moved) this.#light(nodes, id);
    else this.#preview(nodes, id);
  }

  /** @param {number[]} nodes @param {string} from */
  #preview(nodes, from) {
    if (!this.pinned) this.#light(nodes, from);
  }

  #leave() {
    if (!this.pinned) this.#light([], "");
  }

  /** @param {number[]} nodes */
  #pin(nodes) {
    const again = this.pinned && String(this.pinned) === String(nodes);
    this.pinned = again || !nodes.length ? null : nodes;
    this.#light(nodes, "");
  }

  #unpin() {
    this.pinned = null;
    this.#light([], "");
  }

  /** To the neighbouring column, at the first line that is lit there. @param {string} id @param {number} by */
  #go(id, by) {
    const visible = this.data.levels.filter((level) => this.shown.has(level.id));
    const next = visible[visible.findIndex((level) => level.id === id) + by];
    if (!next) return;
    const column = this.#column(next);
    const to = column.lit[0] ?? Math.max(0, column.at);
    column.at = to;
    column.list.focus();
    column.walk(to);
  }

  /** @param {number[]} nodes @param {string} from a column that stays where it is */
  #light(nodes, from) {
    this.nodes = nodes;
    for (const level of this.data.levels) {
      if (!this.shown.has(level.id)) continue;
      const { lines, around } = this.links.lines(level, nodes);
      const column = this.#column(level);
      column.light(lines, around, level.id !== from);
      column.pin(this.pinned !== null);
    }
    this.#say(nodes, from);
    this.changed();
  }

  /** @param {number[]} nodes @param {string} [from] */
  #say(nodes, from) {
    const hint = "Point at a line or walk with the arrow keys; Enter pins, Escape lets go.";
    const text = this.links.sentence(nodes);
    this.said.textContent = text
      ? `${this.pinned ? "Pinned: " : ""}${text}`
      : from
        ? this.links.untold
        : hint;
  }

  /** For tests: what is lit where. */
  report() {
    const lit = [...this.columns.values()].map((column) => [column.level.id, column.lit.length]);
    return {
      kind: this.data.kind,
      levels: this.data.levels.map((level) => level.id),
      nodes: this.nodes,
      pinned: this.pinned,
      lit: Object.fromEntries(lit),
      said: this.said.textContent,
    };
  }
}

/** Those that were chosen last, as far as there are such. @param {LinkedData} data @param {Links} links */
function shownColumns(data, links) {
  const ids = data.levels.map((level) => level.id);
  const known = (localStorage.getItem(links.remembered) ?? "")
    .split(" ")
    .filter((id) => ids.includes(id));
  return new Set(known.length ? known : links.first.filter((id) => ids.includes(id)));
}
