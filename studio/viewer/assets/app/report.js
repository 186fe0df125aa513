// @ts-check
// What the outside hears: the view or the film's event, once the user has rested a second; and a
// truthful status for tests.

import { wanted } from "../page/fetching.js";
import { tellLeaving, viewNow } from "../page/link.js";
import { NODE } from "../trace/union.js";

const IDLE_MS = 1000;
/** One who leaves, by a link or by the browser's history, gets this long: a word would call back. */
const LEAVING_MS = 5000;

/** @typedef {{stage: Stage, film: FilmPanel, scrubber: import("../scrubber/scrubber.js").Scrubber}} Parts */

export class Report {
  /** @param {Context} context @param {Parts} parts */
  constructor({ state, actions }, parts) {
    this.state = state;
    this.actions = actions;
    this.parts = parts;
    this.timer = 0;
    this.silentUntil = 0;
    this.loadMs = 0;
    this.loaded = false;
    /** @type {() => void} */ this.tellDrawn = () => {};
    /** @type {Promise<void>} */ this.drawn = new Promise((tell) => (this.tellDrawn = tell));
    /** @type {string[]} */ this.errors = [];
    this.leave = (/** @type {Event} */ event) => this.#leave(event);
    window.addEventListener("click", this.leave, true);
    window.addEventListener("popstate", this.leave);
    this.version = /\/viewer\/([^/]+)\//.exec(import.meta.url)?.[1] ?? "";
    state.watch(["drawn"], () => this.publish());
    state.watch(["view"], () => this.#touched());
  }

  /** The user did something worth keeping. */
  #touched() {
    window.clearTimeout(this.timer);
    const wait = Math.max(IDLE_MS, this.silentUntil - performance.now());
    this.timer = window.setTimeout(() => this.#rest(), wait);
  }

  #rest() {
    if (this.actions.playback.on || this.parts.film.player.playing) this.#touched();
    else this.#send();
  }

  /** @param {Event} event */
  #leave(event) {
    const link = event.composedPath().some((on) => on instanceof HTMLAnchorElement);
    if (event.type === "click" && !link) return;
    this.silentUntil = performance.now() + LEAVING_MS;
    if (this.timer) this.#touched();
  }

  #stop() {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  #send() {
    this.#stop();
    const { component, session, data } = this.state;
    if (!session || !data || !component) return;
    const news = data.mode === "film" ? this.parts.film.news() : null;
    if (news) component.setStateValue("event", news);
    if (data.mode === "rewrite") this.actions.send("view", viewNow(this.state));
  }

  /** @param {number} ms */
  ready(ms) {
    this.loaded = true;
    this.loadMs = ms;
    this.parts.stage.draw();
    this.tellDrawn();
  }

  /** @param {string} text */
  error(text) {
    this.errors.push(text);
    this.publish();
    this.tellDrawn();
  }

  publish() {
    const { actions } = this;
    const { stage, film, scrubber } = this.parts;
    const { session: s, data, loaded } = this.state;
    const { picture, width } = stage.panes[1];
    const drawn = picture !== null && width > 0;
    const current = data !== null && wanted(data) === loaded;
    const untold = () => this.timer !== 0;
    /** @type {any} */ (window).__passlens = {
      ready: this.loaded && current && drawn && film.ready,
      version: this.version,
      step: s?.step ?? 0,
      visible: s && picture ? nodesIn(picture, s) : 0,
      total: s?.afterCursor.total ?? 0,
      marked: s?.places?.nodes.size ?? 0,
      errors: [...this.errors],
      loadMs: this.loadMs,
      toggleMs: actions.toggleMs,
      strip: scrubber.report(),
      film: film.report(),
      /** Nothing is being drawn or moved, and nothing follows of itself. */
      get resting() {
        return !stage.frame && !film.frame && !actions.settling;
      },
      /** The outside will hear of something as soon as the hand has rested. */
      get untold() {
        return untold();
      },
    };
    /** @type {any} */ (window).__passlensWhere = this.where.bind(this);
  }

  /**
   * Where a node or a group is drawn in a pane, in the page's pixels; for tests that use the mouse.
   * @param {string} id
   * @param {number} [pane]
   */
  where(id, pane = 1) {
    const { stage } = this.parts;
    const { session: s } = this.state;
    const group = s?.tree.byId.get(id);
    const key = s && group ? s.layout.slots + group.at : (s?.boxOf(id) ?? -1);
    const p = stage.panes[pane];
    const box = p.picture?.byKey.get(key);
    if (!box) return null;
    const r = p.canvas.getBoundingClientRect();
    const v = stage.camera.view(pane);
    return {
      x: r.x + r.width / 2 + (box.x - v.x) * v.k,
      y: r.y + r.height / 2 + (box.y - v.y) * v.k,
      width: box.w * v.k,
      height: box.h * v.k,
      kind: box.kind,
    };
  }

  dispose() {
    const untold = this.timer && this.state.data?.mode === "rewrite" && this.state.session;
    this.#stop();
    window.removeEventListener("click", this.leave, true);
    window.removeEventListener("popstate", this.leave);
    if (untold) tellLeaving(this.state);
  }
}

/**
 * Boxes of nodes that are there after the step: no groups, inputs or outputs, nothing removed.
 * @param {Picture} picture
 * @param {Session} s
 */
const nodesIn = ({ boxes }, { union, afterCursor }) =>
  boxes.filter((b) => b.kind === "node" && union.kind[b.occ] === NODE && afterCursor.alive[b.occ])
    .length;
