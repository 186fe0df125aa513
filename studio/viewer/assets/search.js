// @ts-check
// Find a node by operator, name or id; Enter goes round the hits and opens what hides them.

import { fill, h } from "./dom.js";

const SHOWN = 60;

export class Search {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    /** @type {number[]} */ this.hits = [];
    this.at = -1;
    this.input = h("input", {
      type: "search",
      placeholder: "Find by operator or name",
      "aria-label": "Find a node",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => this.run(),
    });
    this.count = h("span.pl-num");
    this.list = h("ul", { "aria-label": "Hits" });
    this.el = h(
      "div.pl-search",
      { role: "search", hidden: true },
      h("div", null, this.input, this.count),
      this.list,
    );
    this.input.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
      if (e.key === "Enter") {
        e.preventDefault();
        this.go(this.at + (e.shiftKey ? -1 : 1));
      }
      if (e.key === "ArrowDown") {
        e.preventDefault();
        this.go(this.at + 1);
      }
      if (e.key === "ArrowUp") {
        e.preventDefault();
        this.go(this.at - 1);
      }
    });
  }

  get active() {
    return !this.el.hidden;
  }

  open() {
    this.el.hidden = false;
    this.input.focus();
    this.input.select();
    this.run();
  }

  close() {
    this.el.hidden = true;
    this.viewer.shell.root.focus({ preventScroll: true });
  }

  run() {
    const s = this.viewer.session;
    const words = this.input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    this.hits = [];
    this.at = -1;
    if (s && words.length) {
      for (let o = 0; o < s.union.recs.length; o++) {
        if (!s.late.alive[o] && !s.early.alive[o]) continue;
        const rec = s.union.recs[o];
        const text = `${rec.op} ${rec.name} ${rec.id} ${rec.brief ?? ""}`.toLowerCase();
        if (words.every((/** @type {string} */ w) => text.includes(w))) this.hits.push(o);
      }
      const exact = words[0];
      const score = (/** @type {number} */ o) =>
        Number(s.union.recs[o].op.toLowerCase() !== exact) - Number(s.late.alive[o]) * 0.5;
      this.hits.sort(
        (a, b) =>
          score(a) - score(b) ||
          s.union.order[s.union.slotOf[a]] - s.union.order[s.union.slotOf[b]],
      );
    }
    this.render();
  }

  render() {
    const s = this.viewer.session;
    this.count.textContent = this.input.value.trim()
      ? `${this.at >= 0 ? `${this.at + 1} of ` : ""}${this.hits.length}`
      : "";
    const first = Math.max(0, Math.min(this.at - 4, this.hits.length - SHOWN));
    fill(
      this.list,
      ...this.hits.slice(first, first + SHOWN).map((o, i) => {
        const rec = /** @type {import("./session.js").Session} */ (s).union.recs[o];
        const gone = !s?.late.alive[o];
        return h(
          "li",
          null,
          h(
            "button",
            {
              type: "button",
              "aria-current": first + i === this.at ? "true" : null,
              onclick: () => this.go(first + i),
            },
            h("b", null, rec.op),
            h("span", null, rec.name),
            gone ? h("i", null, "gone") : null,
          ),
        );
      }),
    );
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} i */
  go(i) {
    const s = this.viewer.session;
    if (!s || !this.hits.length) return;
    this.at = (i + this.hits.length) % this.hits.length;
    this.render();
    this.viewer.select(s.union.recs[this.hits[this.at]].id, { reveal: true });
  }
}
