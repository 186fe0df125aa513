// @ts-check
// What the viewer shows, as one thing that can be watched: changed through `set` alone, and whoever
// draws a part of it is told when that part has changed.

import { Selection } from "./selection.js";

/**
 * What is set.
 * @typedef {Pick<State, "component" | "data" | "loaded" | "session" | "theme" | "selected" | "stepped" |
 *   "playing" | "only" | "vetoed" | "overlays" | "wanted" | "said">} Values
 */

/**
 * A value, or what happens within one: the session stands at another step, and has come to rest
 * there; groups were opened or closed, nodes were marked, something was drawn, the panels need their
 * room, the user chose something or did something worth keeping, the step's card is to be seen from
 * its head, the graph is to have the keyboard.
 * @typedef {keyof Values | "step" | "rest" | "folding" | "marks" | "drawn" | "panels" | "chosen" |
 *   "view" | "card" | "focus"} Part
 */

export class State {
  constructor() {
    /** @readonly @type {Component | null} through which the server hears */ this.component = null;
    /** @readonly @type {Descriptor | null} what the server sent last */ this.data = null;
    /** @readonly what the session was made of */ this.loaded = "";
    /** @readonly @type {Session | null} */ this.session = null;
    /** @readonly @type {Theme | null} */ this.theme = null;
    /** @readonly @type {string | null} id of a node or a group */ this.selected = null;
    /** @readonly somebody went to a step: until then the card speaks of the whole trace */
    this.stepped = false;
    /** @readonly */ this.playing = false;
    /** @readonly @type {number[] | null} the steps that are played, where not all are */
    this.only = null;
    /** @readonly @type {import("../panels/vetoing.js").Vetoed | null} the rewrite that was vetoed just now */
    this.vetoed = null;
    /** @readonly @type {Map<string, Overlay>} those that can be shown now, by id */
    this.overlays = new Map();
    /** @readonly @type {string | null} id of the overlay that the user asked for */ this.wanted =
      null;
    /** @readonly to who does not see the canvas */ this.said = "";
    /** @type {Set<string>} groups opened to show a change, closed again when it has passed */
    this.opened = new Set();
    /** @type {Selection | null} of the last time it was asked for */ this.made = null;
    /** @type {{parts: Set<Part>, act: () => void}[]} */ this.watchers = [];
  }

  /** What is selected in the graph that is shown. @returns {Selection | null} */
  get selection() {
    const { session, selected, made } = this;
    if (!session || selected === null) return null;
    if (made?.session !== session || made.id !== selected)
      this.made = new Selection(session, selected);
    return this.made;
  }

  /** The overlay that is shown. @returns {Overlay | null} */
  get overlay() {
    return (this.wanted !== null && this.overlays.get(this.wanted)) || null;
  }

  /** Everything that moves asks here first. */
  get motion() {
    return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** So long, or at once. @param {number} ms */
  ms(ms) {
    return this.motion ? ms : 0;
  }

  /** @param {Partial<Values>} values */
  set(values) {
    Object.assign(this, values);
    this.changed(.../** @type {Part[]} */ (Object.keys(values)));
  }

  /** Tell those who watch any of these parts, each once. @param {Part[]} parts */
  changed(...parts) {
    for (const watcher of this.watchers)
      if (parts.some((part) => watcher.parts.has(part))) watcher.act();
  }

  /** @param {Part[]} parts @param {() => void} act after any of them has changed */
  watch(parts, act) {
    this.watchers.push({ parts: new Set(parts), act });
  }
}
