// @ts-check
// What the page shows, as one thing that can be watched: the document of all steps, the list as it
// is edited here, and the step one stands at. Going from step to step asks nobody.

import { Outbox } from "../app/outbox.js";

/** @typedef {import("./types.js").LabData} LabData */
/** @typedef {import("./types.js").Draft} Draft */
/** @typedef {import("./types.js").StepView} StepView */
/** @typedef {"data" | "draft" | "step" | "playing" | "theme" | "said"} Part */

export class LabState {
  constructor() {
    /** @type {import("./types.js").LabComponent | null} */ this.component = null;
    /** @type {LabData | null} what the server sent last */ this.data = null;
    /** @type {Draft} the list as it is here: the server may not have heard of it yet */
    this.draft = { primitives: [], texts: [], off: [] };
    /** after how many primitives of those that are on */ this.step = 0;
    this.playing = false;
    this.said = "";
    /** @type {Theme | null} */ this.theme = null;
    /** @type {number} */ this.seq = -1;
    /** @type {{parts: Part[], act: () => void}[]} */ this.watchers = [];
    this.outbox = new Outbox(this);
  }

  /** @returns {StepView[]} */
  get steps() {
    return this.data?.view?.steps ?? [];
  }

  /** @returns {StepView | undefined} */
  get shown() {
    return this.steps[this.step];
  }

  /** @returns {StepView | undefined} */
  get before() {
    return this.steps[this.step - 1];
  }

  /** Whether the server still has to answer an edit. */
  get waiting() {
    return this.outbox.unheard.length > 0;
  }

  /** Numbers in the list of those that are on: of step k at k - 1. */
  get applied() {
    const { primitives, off } = this.draft;
    return primitives.map((_, at) => at).filter((at) => !off.includes(at));
  }

  get motion() {
    return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** @param {Part[]} parts @param {() => void} act after any of them has changed */
  watch(parts, act) {
    this.watchers.push({ parts, act });
  }

  /** @param {Part[]} parts */
  changed(...parts) {
    for (const { parts: watched, act } of this.watchers)
      if (parts.some((part) => watched.includes(part))) act();
  }

  /** @param {import("./types.js").LabComponent} component @param {Theme} theme */
  take(component, theme) {
    const { data } = component;
    this.component = component;
    this.data = data;
    this.theme = theme;
    this.outbox.heard();
    if (!this.waiting) this.draft = data.draft;
    const last = Math.max(0, this.steps.length - 1);
    if (data.seq !== this.seq && data.fresh && !this.waiting) {
      this.seq = data.seq;
      this.step = data.step;
    }
    this.step = Math.min(this.step, last);
    this.changed("theme", "data", "draft", "step");
  }

  /** @param {number} step */
  goto(step) {
    const to = Math.max(0, Math.min(this.steps.length - 1, step));
    if (to === this.step || !this.steps.length) return;
    this.step = to;
    this.changed("step");
  }

  /** @param {string} said to who does not see what changed */
  say(said) {
    this.said = said;
    this.changed("said");
  }

  /** @param {boolean} playing */
  play(playing) {
    this.playing = playing;
    this.changed("playing");
  }

  /** Another list: drawn at once, and told. @param {Draft} draft @param {number} step */
  edit(draft, step) {
    this.draft = draft;
    const { primitives, off } = draft;
    this.post("draft", { primitives, off, step });
    this.changed("draft");
  }

  /** @param {string} name @param {any} value */
  post(name, value) {
    this.outbox.post(name, value);
  }
}
