// @ts-check
// Two steps of a schedule, line beside line.

import { fill, h, segments } from "../page/dom.js";

/** @typedef {import("./types.js").DifferenceData} DifferenceData */
/** @typedef {import("./types.js").DiffRow} DiffRow */

const CONTEXT = 3;
const FIRST = "asm";
/** What a row is, also without its colour. */
const SIGNS = { same: "", changed: "~", removed: "−", added: "+" };

export class DifferenceView {
  /** @param {DifferenceData} data @param {() => void} changed */
  constructor(data, changed) {
    this.data = data;
    this.changed = changed;
    this.level = FIRST;
    /** @type {Set<number>} rows at which a fold was opened */
    this.open = new Set();
    this.at = -1;
    this.head = h("div.cl-head");
    this.rows = h("div.cl-rows", { tabindex: 0, role: "group", onkeydown: (e) => this.#key(e) });
    this.said = h("p.cl-said", { role: "status" });
    this.el = h("div.cl-difference", this.head, this.rows, this.said);
    this.#draw();
  }

  get #level() {
    const found = this.data.levels.find((level) => level.id === this.level);
    return found ?? this.data.levels[0];
  }

  #draw() {
    const level = this.#level;
    const choices = this.data.levels.map(({ id, title, changed }) => ({
      id,
      text: `${title} · ${changed}`,
      hint: `${changed} lines differ`,
    }));
    const pick = (/** @type {string} */ id) => {
      this.level = id;
      this.open.clear();
      this.at = -1;
      this.#draw();
      /** @type {any} */ (this.head.querySelector("[aria-pressed=true]"))?.focus();
    };
    const step = (/** @type {number} */ by) => () => this.#go(by);
    fill(
      this.head,
      segments("Level", choices, level.id, pick),
      h("button.cl-go", { disabled: !level.changed, onclick: step(-1) }, "Previous change"),
      h("button.cl-go", { disabled: !level.changed, onclick: step(1) }, "Next change"),
      h("span.pl-num", `compiled for ${this.data.processor}`),
    );
    fill(this.rows, ...this.#blocks());
    const [before, after] = this.data.steps;
    const cut = level.leftOut ? `, ${level.leftOut} lines behind the limit were not compared` : "";
    const count = level.changed === 1 ? "1 line differs" : `${level.changed} lines differ`;
    this.rows.setAttribute("aria-label", `${level.title}, step ${before} beside step ${after}`);
    this.said.textContent = level.changed
      ? `${level.title}: ${count} between step ${before} and step ${after}${cut}.`
      : `${level.title}: the same at both steps, but for what a compiler numbers anew${cut}.`;
    this.changed();
  }

  /** Rows that differ with those around, and folds of what is the same. */
  #blocks() {
    const { rows } = this.#level;
    const near = new Uint8Array(rows.length);
    rows.forEach(([change], n) => {
      if (change !== "same") near.fill(1, Math.max(0, n - CONTEXT), n + CONTEXT + 1);
    });
    const found = [this.#heading()];
    for (let n = 0; n < rows.length; ) {
      let end = n;
      while (end < rows.length && !near[end]) end++;
      if (end > n && !this.open.has(n)) found.push(this.#fold(n, end));
      else if (end > n) for (let m = n; m < end; m++) found.push(this.#row(rows[m]));
      else found.push(this.#row(rows[end++]));
      n = end;
    }
    return found;
  }

  #heading() {
    const [before, after] = this.data.steps;
    return h("div.cl-row.cl-steps", h("b", `Step ${before}`), h("i"), h("b", `Step ${after}`));
  }

  /** @param {number} start @param {number} end */
  #fold(start, end) {
    const show = () => {
      this.open.add(start);
      this.#draw();
      this.rows.focus();
    };
    const count = end - start;
    return h(
      "button.cl-fold",
      { onclick: show },
      `${count} ${count === 1 ? "line" : "lines"} the same`,
    );
  }

  /** @param {DiffRow} row */
  #row([change, before, after]) {
    const level = this.#level;
    return h(
      `div.cl-row.cl-${change}`,
      h("code", before < 0 ? " " : level.before[before] || " "),
      h("i", change === "same" ? null : { role: "img", "aria-label": change }, SIGNS[change]),
      h("code", after < 0 ? " " : level.after[after] || " "),
    );
  }

  /** To the next place where something differs. @param {number} by */
  #go(by) {
    const rows = [...this.rows.querySelectorAll(".cl-row:not(.cl-steps)")];
    const isNew = (/** @type {number} */ n) =>
      !rows[n].matches(".cl-same") &&
      (n === 0 ||
        rows[n - 1].matches(".cl-same") ||
        rows[n - 1] !== rows[n].previousElementSibling);
    const starts = rows.map((_, n) => n).filter(isNew);
    if (!starts.length) return;
    const from = this.at < 0 && by < 0 ? 0 : this.at;
    this.at = (from + by + starts.length) % starts.length;
    const el = /** @type {HTMLElement} */ (rows[starts[this.at]]);
    this.rows.scrollTop = el.offsetTop - this.rows.offsetTop - 0.25 * this.rows.clientHeight;
    for (const row of rows) row.classList.toggle("cl-here", row === el);
    this.changed();
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (e.target !== this.rows) return;
    if (e.key === "n") this.#go(1);
    else if (e.key === "p") this.#go(-1);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** For tests: what is compared. */
  report() {
    const changed = this.data.levels.map((level) => [level.id, level.changed]);
    return {
      kind: "difference",
      level: this.level,
      steps: this.data.steps,
      at: this.at,
      changed: Object.fromEntries(changed),
    };
  }
}
