// @ts-check
// Near misses of a pass, grouped by the condition that failed, and rules that failed themselves:
// their places named and marked.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { namesOf } from "../trace/place-names.js";
import { placeWalk } from "./place-walk.js";

const LISTED = 100; // places written out

export class DeclinedList {
  /**
   * @param {Context} context
   * @param {HTMLElement} home what it stands in
   * @param {() => void} redraw
   * @param {() => void} taken tells others that their marks are gone
   */
  constructor(context, home, redraw, taken) {
    this.context = context;
    this.taken = taken;
    this.home = home;
    this.state = context.state;
    this.actions = context.actions;
    this.redraw = redraw;
    /** @type {Set<string>} passes whose reasons are listed */ this.passes = new Set();
    /** @type {{pass: string, reason: string} | null} whose places are marked */ this.shown = null;
    /** @type {Session | null} in which they are */ this.session = null;
  }

  /** Before the list is drawn: places are marked in the graph that is there now. */
  sync() {
    const { session, vetoed } = this.state;
    if (session === this.session) return;
    this.session = session;
    if (vetoed) this.shown = null;
    else if (this.shown) this.#mark();
  }

  /** @param {PassRecord} pass */
  render(pass) {
    const open = this.passes.has(pass.id);
    const fold = () => this.#toggle(pass.id, !open);
    const title = [...this.#groups(pass.id)].map(([why, at]) => `${why} ×${at.length}`).join("\n");
    const toggle = h(
      `button.pl-declined${pass.failed ? ".pl-failed" : ""}`,
      { "aria-expanded": open, "data-focus": `d:${pass.id}`, title, onclick: fold },
      `${counts(pass)} ${open ? "▾" : "▸"}`,
    );
    if (!open) return toggle;
    const rows = [...this.#groups(pass.id)].map(([why, places]) =>
      this.#group(pass.id, why, places),
    );
    return h("div.pl-reasons", toggle, h("ul", rows));
  }

  /** @param {string} pass @returns {Map<string, DeclinedRecord[]>} by reason, most places first */
  #groups(pass) {
    const { trace } = this.state.session ?? {};
    const own = (trace?.declined ?? []).filter((d) => trace?.passes[d.pass]?.id === pass);
    const groups = Map.groupBy(own, (d) => d.reason);
    return new Map([...groups].sort((a, b) => b[1].length - a[1].length));
  }

  /** @param {string} pass @param {boolean} open */
  #toggle(pass, open) {
    const [only, ...more] = this.#groups(pass).keys();
    if (open) this.passes.add(pass);
    else this.passes.delete(pass);
    if (open && !more.length) this.#show({ pass, reason: only });
    else if (!open && this.shown?.pass === pass) this.#show(null);
    this.redraw();
    if (open) this.#reveal(pass);
  }

  /** At the foot of the list reasons would open out of sight. @param {string} pass */
  #reveal(pass) {
    const row = this.home.querySelector(`[data-focus="d:${pass}"]`);
    row?.scrollIntoView({ block: "center" });
  }

  /** @param {{pass: string, reason: string} | null} which */
  #show(which) {
    this.actions.endVeto();
    this.shown = which;
    this.taken();
    this.#mark();
  }

  /** Other places are marked now. */
  unmark() {
    this.shown = null;
  }

  #mark() {
    const { shown } = this;
    const places = shown ? (this.#groups(shown.pass).get(shown.reason) ?? []) : [];
    this.actions.mark(
      places.length ? "declined" : null,
      places.map((d) => d.node),
    );
    if (places.length) this.actions.say(`${counted(places.length, "place")} marked in the graph.`);
  }

  /** @param {string} pass @param {string} reason @param {DeclinedRecord[]} places */
  #group(pass, reason, places) {
    const open = this.shown?.pass === pass && this.shown.reason === reason;
    const toggle = () => {
      this.#show(open ? null : { pass, reason });
      this.redraw();
    };
    const title = open ? "Take the marks away" : "List the places and mark them in the graph";
    const focus = `r:${pass}:${reason}`;
    const head = h(
      `button.pl-reason${places[0].failed ? ".pl-failed" : ""}`,
      { "aria-expanded": open, "data-focus": focus, title, onclick: toggle },
      h("span", reason),
      h("span.pl-num", `${counted(places.length, "place")} ${open ? "▾" : "▸"}`),
    );
    if (!open) return h("li", head);
    const unlock = places.find((d) => d.unlock)?.unlock;
    const ids = [...new Set(places.map((d) => d.node))];
    return h(
      "li",
      head,
      unlock && h("p.pl-unlock", unlock),
      ids.length > 1 && placeWalk(this.context, ids, focus, this.redraw),
      h("ul.pl-places", this.#places(places)),
    );
  }

  /** @param {DeclinedRecord[]} places */
  #places(places) {
    const nodes = places.map((d) => d.node);
    const names = namesOf(this.state.session, nodes, LISTED);
    const rows = places.slice(0, LISTED).map(({ node, detail }, i) => {
      const select = () => this.actions.select(node, { reveal: true });
      const name = button(`Show ${names[i]} in the graph`, names[i], select, "pl-place");
      return h("li", name, detail && h("span", detail));
    });
    const more = places.length - rows.length;
    return more ? [...rows, h("li", `and ${more} more, marked in the graph`)] : rows;
  }
}

/** @param {PassRecord} pass */
const counts = ({ declined, failed }) =>
  [failed ? `failed ${failed}` : "", declined ? `declined ${declined}` : ""]
    .filter(Boolean)
    .join(" · ");
