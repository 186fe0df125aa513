// @ts-check
// Find a group, a node or a step; Enter goes round the hits and opens what hides them.

import { fill, h } from "../page/dom.js";
import { explain, findAll, wordsOf } from "../session/query.js";
import { whole } from "../page/numbers.js";

/** @typedef {import("../session/query.js").Hit} Hit */

const SHOWN = 30; // of a kind
const BEFORE = 4; // of them before the current one
const HEADINGS = { group: "Groups", node: "Nodes", step: "Steps" };

export class Search {
  /** @param {Context} context */
  constructor(context) {
    this.state = context.state;
    this.actions = context.actions;
    /** @type {Hit[]} */ this.hits = [];
    this.at = -1;
    const words = "Find a node, a group or a step";
    this.input = h("input", {
      type: "search",
      placeholder: words,
      "aria-label": words,
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => this.run(),
      onkeydown: (e) => this.#down(e),
    });
    this.count = h("span.pl-num");
    this.none = h("div.pl-empty", { role: "status", hidden: true });
    this.list = h("ul", { "aria-label": "Hits" });
    const field = h("div", this.input, this.count);
    const props = { role: "search", hidden: true };
    this.el = h("div.pl-search", props, field, this.none, this.list);
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    const way = e.key === "Enter" ? (e.shiftKey ? -1 : 1) : { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!way) return;
    e.preventDefault();
    this.go(this.at + way);
  }

  get active() {
    return !this.el.hidden;
  }

  open() {
    this.el.hidden = false;
    this.state.changed("panels");
    this.input.focus();
    this.input.select();
    this.run();
  }

  close() {
    this.el.hidden = true;
    this.state.changed("panels", "focus");
  }

  run() {
    const s = this.state.session;
    const words = wordsOf(this.input.value);
    this.hits = s ? findAll(s, words) : [];
    this.at = -1;
    this.none.hidden = !s || !words.length || this.hits.length > 0;
    if (s && !this.none.hidden)
      fill(
        this.none,
        explain(s, words).map((line) => h("p", line)),
      );
    this.render();
  }

  render() {
    const at = this.at >= 0 ? `${whole(this.at + 1)} of ` : "";
    const asked = wordsOf(this.input.value).length > 0;
    this.count.textContent = asked ? `${at}${whole(this.hits.length)}` : "";
    const kinds = [...new Set(this.hits.map((hit) => hit.kind))];
    fill(
      this.list,
      kinds.flatMap((kind) => this.#section(kind)),
    );
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Hit["kind"]} kind */
  #section(kind) {
    const start = this.hits.findIndex((hit) => hit.kind === kind);
    const all = this.hits.filter((hit) => hit.kind === kind);
    const first = Math.max(0, Math.min(this.at - start - BEFORE, all.length - SHOWN));
    const shown = all.slice(first, first + SHOWN);
    const rest = all.length - first - shown.length;
    return [
      h("li.pl-kinds", HEADINGS[kind], " ", h("span.pl-num", whole(all.length))),
      ...shown.map((hit, i) => this.#row(hit, start + first + i)),
      rest ? h("li.pl-dim", `and ${whole(rest)} more`) : null,
    ];
  }

  /** @param {Hit} hit @param {number} i */
  #row(hit, i) {
    const current = i === this.at ? "true" : null;
    return h(
      "li",
      h(
        "button",
        { title: hit.place, "aria-current": current, onclick: () => this.go(i) },
        h("b", hit.head),
        h("span", hit.place),
        hit.note && h(hit.kind === "node" ? "i" : "small", hit.note),
      ),
    );
  }

  /** @param {number} i */
  go(i) {
    if (!this.hits.length) return;
    this.at = (i + this.hits.length) % this.hits.length;
    this.render();
    const { kind, id, step } = this.hits[this.at];
    if (kind === "step") this.actions.select(null);
    if (step >= 0) this.actions.goto(step);
    if (kind === "step") this.state.changed("card");
    else this.actions.select(id, { reveal: true });
  }
}
