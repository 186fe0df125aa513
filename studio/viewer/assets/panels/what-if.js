// @ts-check
// What if: which passes would act on the graph at the step that is shown, and how often. The server
// asks every pass, those that are off, too; nothing is changed. It answers with what can be said soon;
// where that is not all, it is asked for all.

import { button, h } from "../page/dom.js";
import { askJson } from "../page/fetching.js";
import { counted, whole } from "../page/numbers.js";
import { Comparison } from "../session/comparison.js";
import { placeWalk } from "./place-walk.js";

/** @typedef {import("../types.js").PreviewRecord} PreviewRecord */
/** @typedef {import("../types.js").WhatIfJson} WhatIfJson */

/** After so long at a step, of which "rest" tells at once, one may want to know. */
const REST_MS = 800;

export class WhatIf {
  /**
   * @param {Context} context
   * @param {() => void} redraw
   * @param {() => void} taken tells others that their marks are gone
   */
  constructor(context, redraw, taken) {
    this.taken = taken;
    this.context = context;
    this.state = context.state;
    this.actions = context.actions;
    this.redraw = redraw;
    this.on = false;
    /** @type {Map<string, PreviewRecord>} what was answered last, by pass */ this.told = new Map();
    /** what all said at another step of this run
     * @type {{url: string, step: number, told: Map<string, PreviewRecord>}} */
    this.earlier = { url: "", step: -1, told: new Map() };
    this.toldAt = -1;
    /** 1 or -1: which way the steps that are asked about go */ this.heading = 1;
    /** who has yet to answer @type {Set<string>} */ this.unasked = new Set();
    /** address of what is being asked, or was */ this.asked = "";
    /** the last answer, or that to come @type {{address: string, found: Promise<any>} | null} */
    this.last = null;
    this.trouble = "";
    /** pass whose places are marked */ this.marked = "";
    this.resting = 0;
    /** address of the step that the server was told of last */ this.announced = "";
    this.state.watch(["rest", "session", "data"], () => this.#follow());
    this.state.watch(["step"], () => window.clearTimeout(this.resting));
    this.state.watch(["rest", "session", "data", "playing"], () => {
      window.clearTimeout(this.resting);
      this.resting = window.setTimeout(() => this.#rest(), REST_MS);
    });
  }

  /** Of one run: two pipelines at once have no step in common. */
  get #offer() {
    const { data, session: s } = this.state;
    if (!data?.what_if || !s?.trace || s instanceof Comparison) return null;
    return data.what_if.key === s.trace.key ? data.what_if : null;
  }

  /** The switch, and what was found in one line. */
  head() {
    if (!this.#offer) return [];
    const toggle = button(
      "Ask every pass, those that are off, too, how often it would fire at this step",
      "What would fire now",
      () => this.#toggle(),
    );
    for (const near of ["pointerenter", "focus"])
      toggle.addEventListener(near, () => this.#askAhead());
    toggle.setAttribute("aria-pressed", String(this.on));
    toggle.dataset.focus = "what-if";
    return [toggle, this.on && h("p", { role: "status" }, this.#line())];
  }

  #line() {
    const step = this.state.session?.step ?? 0;
    if (this.trouble) return this.trouble;
    if (this.toldAt !== step) return `Asking every pass about step ${step}.`;
    const firing = [...this.told.values()].filter((p) => p.matches);
    const { all, least } = total(firing);
    const places = least ? `${whole(all)} or more places` : counted(all, "place");
    const where = step ? `At step ${step},` : "In the source,";
    const left = counted(this.unasked.size, "pass is", "passes are");
    const rest = this.unasked.size ? ` so far; ${left} still being asked.` : ".";
    return firing.length
      ? `${where} ${counted(firing.length, "pass", "passes")} would fire, at ${places}${rest}`
      : `${where} no pass would fire${rest}`;
  }

  /** What it would do, in its row. @param {PassRecord} p */
  cell(p) {
    if (!this.on) return null;
    const found = this.told.get(p.id) ?? this.#before(p.id);
    if (!found?.matches) return h("span.pl-would", "");
    const text = `${found.whole ? "" : "≥ "}${found.matches}×`;
    if (!this.told.has(p.id)) return h("span.pl-would.pl-before", { title: this.#waiting }, text);
    const label = `would fire ${found.whole ? "" : "at least "}${counted(found.matches, "time")}: mark the places`;
    const cell = button(label, text, () => this.#mark(p.id), "pl-would");
    cell.setAttribute("aria-expanded", String(this.marked === p.id));
    cell.dataset.focus = `w:${p.id}`;
    return cell;
  }

  /** The way from place to place, below the row. @param {PassRecord} p */
  places(p) {
    const places = this.marked === p.id && this.on ? this.told.get(p.id)?.places : null;
    return places?.length
      ? placeWalk(this.context, [...new Set(places)], `w:${p.id}`, this.redraw)
      : null;
  }

  /** Of a family. @param {PassRecord[]} list */
  sum(list) {
    if (!this.on) return null;
    const told = list.map((p) => this.told.get(p.id) ?? this.#before(p.id));
    const { all, least } = total(told.filter((p) => p !== undefined));
    const waits = list.some((p) => this.#before(p.id));
    const text = all ? `${least ? "≥ " : ""}${all}×` : "";
    const title = waits ? this.#waiting : "would fire";
    return h(`span.pl-would${waits ? ".pl-before" : ""}`, { title }, text);
  }

  /** What a pass said at another step, where it has yet to answer. @param {string} id */
  #before(id) {
    const { url, told } = this.earlier;
    return this.unasked.has(id) && url === this.#offer?.url ? told.get(id) : undefined;
  }

  get #waiting() {
    return `at step ${this.earlier.step}; at this one it is being asked`;
  }

  /** Other places are marked now. */
  unmark() {
    this.marked = "";
  }

  #toggle() {
    this.on = !this.on;
    if (!this.on && this.marked) this.#mark(this.marked);
    this.#follow();
    this.redraw();
  }

  /** @param {string} pass */
  #mark(pass) {
    const shut = this.marked === pass;
    const places = this.told.get(pass)?.places ?? [];
    this.marked = shut ? "" : pass;
    this.actions.endVeto();
    this.taken();
    this.actions.mark(shut ? null : "matched", shut ? [] : places);
    if (!shut) this.actions.say(`${counted(places.length, "place")} marked in the graph.`);
    this.redraw();
  }

  /** Who is about to press the button finds the first answer on its way. */
  #askAhead() {
    const url = this.#url;
    if (!this.on && url) this.#answer(url, false).catch(() => null);
  }

  /** Let the server begin to ask about a step before anybody wants to know; of the source it has. */
  #rest() {
    const url = this.#url;
    if (url && !this.on && this.state.session?.step) this.#announce(url);
  }

  /** Where one step has been told, the next one is likely to be asked about. @param {number} step */
  #announceNext(step) {
    const next = step + this.heading;
    const steps = this.state.session?.steps.length ?? 0;
    if (this.#offer && next > 0 && next <= steps) this.#announce(`${this.#offer.url}/${next}`);
  }

  /** @param {string} url of a step that may be asked about */
  #announce(url) {
    if (this.state.playing || url === this.announced) return;
    this.announced = url;
    fetch(new URL(`${url}/ahead`, document.baseURI), { method: "POST" }).catch(() => null);
  }

  /** What the passes say soon or all, asked once until it is told.
   * @param {string} url @param {boolean} all @returns {Promise<WhatIfJson>} */
  #answer(url, all) {
    const address = `${url}.json${all ? "?all" : ""}`;
    if (this.last?.address === address) return this.last.found;
    const found = askJson(address);
    this.last = { address, found };
    found.catch(() => {
      if (this.last?.found === found) this.last = null;
    });
    return found;
  }

  /** Where the step that is shown is asked about. */
  get #url() {
    const offer = this.#offer;
    return offer ? `${offer.url}/${this.state.session?.step ?? 0}` : "";
  }

  /** Ask about the step that is shown, once it has come to rest. */
  async #follow() {
    const url = this.#url;
    const step = this.state.session?.step ?? 0;
    if (!this.on || !url || url === this.asked) return;
    this.asked = url;
    this.redraw();
    try {
      for (const all of [false, true]) {
        const found = await this.#answer(url, all);
        if (this.asked !== url) return;
        this.#take(step, found, !all);
        if (!found.unasked.length) break;
      }
    } catch (error) {
      if (this.asked !== url) return;
      this.asked = "";
      this.trouble = error instanceof Error ? error.message : String(error);
      if (this.marked && this.toldAt !== step) this.#mark(this.marked);
      this.redraw();
    }
  }

  /** An answer; the first one ends what was known of another step.
   * @param {number} step @param {WhatIfJson} found @param {boolean} first */
  #take(step, { passes, unasked }, first) {
    if (first) {
      if (this.marked) this.#mark(this.marked);
      if (step !== this.toldAt) this.heading = step < this.toldAt ? -1 : 1;
    }
    this.told = new Map(passes.map((p) => [p.pass_id, p]));
    this.unasked = new Set(unasked);
    this.toldAt = step;
    this.trouble = "";
    const whole = !unasked.length;
    if (whole && this.#offer) this.earlier = { url: this.#offer.url, step, told: this.told };
    this.redraw();
    if (whole) this.#announceNext(step);
  }
}

/** At how many places passes would fire; least: there may be more. @param {PreviewRecord[]} passes */
const total = (passes) => ({
  all: passes.reduce((sum, p) => sum + p.matches, 0),
  least: passes.some((p) => p.matches && !p.whole),
});
