// @ts-check
// One level of code: lines that can be walked with the keyboard, and lit.

import { h } from "../page/dom.js";

/** @typedef {import("./types.js").Level} Level */

/** What is written beside a line for a mark. */
const SIGNS = {
  zmm: "512",
  ymm: "256",
  xmm: "128",
  scalar: "1",
  fma: "fma",
  gather: "gather",
  call: "call",
  spill: "spill",
  reload: "reload",
  vector: "v",
};
const PAGE = 12;
const AHEAD = 0.3; // of a column's height, where lines that are scrolled to come to stand

/**
 * @typedef {object} Acts
 * @property {(level: string, line: number, moved: boolean) => void} look at a line; moved by keys
 * @property {() => void} leave
 * @property {() => void} pin
 * @property {() => void} unpin
 * @property {(level: string, by: number) => void} go to a neighbouring column
 */

export class Column {
  /** @param {Level} level @param {Acts} acts */
  constructor(level, acts) {
    this.level = level;
    this.acts = acts;
    this.at = -1;
    /** @type {number[]} */ this.lit = [];
    this.lines = level.texts.map((text, line) => this.#line(text, line));
    this.list = h(
      "div.cl-lines",
      {
        role: "listbox",
        tabindex: 0,
        "aria-label": `${level.title}, ${level.texts.length} lines`,
        onkeydown: (e) => this.#key(e),
        onfocus: () => this.at < 0 && this.walk(this.lit[0] ?? 0),
        onpointerover: (e) => this.#over(e),
        onpointerleave: () => acts.leave(),
        onclick: (e) => this.#pressed(e),
      },
      this.lines,
    );
    const count = level.leftOut
      ? `the first ${level.texts.length} of ${level.texts.length + level.leftOut} lines`
      : `${level.texts.length} lines`;
    this.el = h(
      "section.cl-column",
      { "data-level": level.id },
      h("header", h("b", level.title), h("span.pl-num", count)),
      this.list,
    );
  }

  /** @param {string} text @param {number} line */
  #line(text, line) {
    const marks = this.level.marks[line].split(" ").filter(Boolean);
    const signs = marks.map((mark) => h(`i.cl-${mark}`, SIGNS[/** @type {"zmm"} */ (mark)]));
    const free = this.level.nodes[line].length === 0;
    return h(
      free ? "div.cl-line.cl-free" : "div.cl-line",
      {
        role: "option",
        id: `cl-${this.level.id}-${line}`,
        "data-line": line,
        "aria-selected": "false",
        "aria-label": text.trim() ? null : "empty line",
      },
      h("span.cl-marks", signs),
      h("code", text || " "),
    );
  }

  /** Light lines, and scroll to them. @param {number[]} lines @param {boolean} around @param {boolean} follow */
  light(lines, around, follow) {
    for (const line of this.lit) this.lines[line].classList.remove("cl-lit", "cl-around");
    for (const line of lines) this.lines[line].classList.add(around ? "cl-around" : "cl-lit");
    this.lit = lines;
    if (follow && lines.length) this.#show(lines[0], AHEAD);
  }

  /** Say which lines are pinned. @param {boolean} pinned */
  pin(pinned) {
    this.el.classList.toggle("cl-pinned", pinned);
  }

  /** Go to a line with the keyboard. @param {number} line */
  walk(line) {
    this.lines[this.at]?.classList.remove("cl-here");
    this.lines[this.at]?.setAttribute("aria-selected", "false");
    this.at = Math.max(0, Math.min(this.lines.length - 1, line));
    const el = this.lines[this.at];
    if (!el) return;
    el.classList.add("cl-here");
    el.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", el.id);
    this.#show(this.at, 0);
    this.acts.look(this.level.id, this.at, true);
  }

  /** @param {number} line @param {number} ahead 0: as little as it takes */
  #show(line, ahead) {
    const { list } = this;
    const top = this.lines[line].offsetTop - list.offsetTop;
    const height = this.lines[line].offsetHeight;
    if (top >= list.scrollTop && top + height <= list.scrollTop + list.clientHeight) return;
    if (ahead) list.scrollTop = top - ahead * list.clientHeight;
    else list.scrollTop = top < list.scrollTop ? top : top + height - list.clientHeight;
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    const by = steps[/** @type {"ArrowDown"} */ (e.key)];
    if (by) this.walk(this.at + by);
    else if (e.key === "Home") this.walk(0);
    else if (e.key === "End") this.walk(this.lines.length - 1);
    else if (e.key === "Enter" || e.key === " ") this.acts.pin();
    else if (e.key === "Escape") this.acts.unpin();
    else if (e.key === "ArrowLeft") this.acts.go(this.level.id, -1);
    else if (e.key === "ArrowRight") this.acts.go(this.level.id, 1);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** @param {Event} e */
  #over(e) {
    const line = this.#lineOf(e);
    if (line >= 0) this.acts.look(this.level.id, line, false);
  }

  /** @param {Event} e */
  #pressed(e) {
    const line = this.#lineOf(e);
    if (line < 0) return;
    this.walk(line);
    this.acts.pin();
  }

  /** @param {Event} e */
  #lineOf(e) {
    const el = /** @type {HTMLElement} */ (e.target).closest(".cl-line");
    return el ? Number(/** @type {HTMLElement} */ (el).dataset.line) : -1;
  }
}
