// @ts-check
// Everything that can be done to what is shown, by name: what buttons, keys, links and the server ask
// for. Nobody else changes the state.

import { showChange } from "../canvas/framing.js";
import { MOTION_MS } from "../canvas/stage.js";
import { OVERLAYS } from "../overlays/registry.js";
import { Vetoing } from "../panels/vetoing.js";
import { Playback } from "../scrubber/playback.js";
import { Folding } from "./folding.js";
import { Outbox } from "./outbox.js";

/** @typedef {{state: State, actions: Actions}} Context what most parts are given */

const SETTLE_MS = 220;
const FAST = 2; // times: steps that are played faster are not animated

export class Actions extends Folding {
  /** @param {State} state @param {Stage} stage */
  constructor(state, stage) {
    super(state, stage);
    this.following = true;
    this.settling = 0;
    this.playback = new Playback(this);
    this.vetoing = new Vetoing({ state, actions: this });
    this.outbox = new Outbox(state);
    state.watch(["data"], () => this.outbox.heard());
  }

  /** Another session is shown. */
  reset() {
    this.playback.all();
    this.playback.stop();
    this.state.opened.clear();
    window.clearTimeout(this.settling);
    this.settling = 0;
  }

  /** @param {string | null} id of a node or a group @param {{reveal?: boolean}} [how] */
  select(id, how = {}) {
    if (id !== this.state.selected) this.playback.all();
    if (id !== null && how.reveal) this.reveal(id);
    this.state.set({ selected: id });
    this.state.changed("chosen", "view");
  }

  /** Select the group around what is selected, if there is one. */
  selectAround() {
    const around = this.state.selection?.around;
    if (around) this.select(around, { reveal: true });
  }

  /**
   * Follow an edge: up to a producer, down to a consumer, sideways to another consumer of the same
   * producer.
   * @param {"up" | "down" | "left" | "right"} way
   */
  walk(way) {
    const { session: s, selection } = this.state;
    if (!s) return;
    const o = selection?.node;
    if (o === undefined) {
      const [first = null] = [...s.graph.inputs, ...s.graph.nodes];
      this.select(first?.id ?? null, { reveal: true });
      return;
    }
    const next =
      way === "up" || way === "down" ? s.neighbours(o, way === "down")[0] : beside(s, o, way);
    if (next !== undefined && next !== o) this.select(s.union.recs[next].id, { reveal: true });
  }

  /** Show an overlay instead of the kinds of nodes, or no longer. @param {string} id */
  toggleOverlay(id) {
    const { state } = this;
    if (!state.overlays.has(id)) return;
    state.set({ wanted: state.wanted === id ? null : id });
    const shown = OVERLAYS.find((kind) => kind.id === state.wanted)?.plural ?? "Kinds of nodes";
    this.say(`${shown} are shown.`);
  }

  /** Which numbers the shown overlay shows. @param {string} id of one of its choices */
  chooseNumbers(id) {
    if (this.state.overlay) this.state.overlay.choice = id;
    this.state.changed("overlays");
  }

  /** @param {number} step @param {{dragging?: boolean}} [how] */
  goto(step, how = {}) {
    const { state, stage } = this;
    const s = state.session;
    if (!s) return;
    const target = Math.max(0, Math.min(s.steps.length, Math.round(step)));
    if (target === s.step) {
      this.endVeto();
      return;
    }
    this.vetoing.clear();
    if (!state.stepped) state.set({ stepped: true });
    const near = Math.abs(target - s.step) === 1 && !how.dragging && !this.#fast;
    const forward = target > s.step;
    const ms = near ? state.ms(MOTION_MS) : 0;
    const old = stage.panes[1].picture;
    s.goto(target);
    const origins = forward && ms && old ? originsOf(s, old) : undefined;
    stage.refresh(ms, { origins });
    if (this.following) showChange(stage, how.dragging ? 0 : state.ms(MOTION_MS));
    state.changed("step", "view");
    window.clearTimeout(this.settling);
    const wait = this.playback.on ? SETTLE_MS / 2 : SETTLE_MS;
    this.settling = window.setTimeout(() => this.#settle(), wait);
  }

  get #fast() {
    return this.playback.on && this.playback.speed > FAST;
  }

  /** The hand has come to rest. */
  #settle() {
    this.settling = 0;
    const { session: s } = this.state;
    this.state.changed("rest");
    if (s && this.following && !this.#fast) this.openAroundChange(s);
  }

  /** @param {number} by */
  stepBy(by) {
    const { session: s } = this.state;
    if (s) this.goto(s.step + by);
  }

  /** To the first step of the next run of one pass, or of the previous one. @param {1 | -1} way */
  passBy(way) {
    const { session: s } = this.state;
    if (!s) return;
    const at = (/** @type {number} */ k) => s.steps[k - 1]?.pass;
    let k = s.step;
    if (way > 0) {
      while (k < s.steps.length && at(k + 1) === at(s.step)) k++;
      this.goto(k + 1);
    } else {
      if (k > 1 && at(k - 1) !== at(k)) k--;
      const pass = at(k);
      while (k > 1 && at(k - 1) === pass) k--;
      this.goto(k === s.step ? k - 1 : k);
    }
  }

  /** To the next step that touches what is selected, or to the previous one. @param {1 | -1} way */
  touchBy(way) {
    const { selection, session: s } = this.state;
    const steps = selection?.steps ?? [];
    const at = s?.step ?? 0;
    const to = way > 0 ? steps.find((n) => n > at) : steps.findLast((n) => n < at);
    if (to !== undefined) this.arrive(to);
    else this.say(selection ? "No more steps touch it." : "Select a node or a group first.");
  }

  /** To a step from the one before it, so that one sees what it does. @param {number} step */
  arrive(step) {
    const { session: s } = this.state;
    if (s && Math.abs(step - s.step) > 1) {
      s.goto(step - 1);
      this.stage.refresh(0);
    }
    this.goto(step);
  }

  /** @param {"source" | "previous"} before */
  setBefore(before) {
    const { session: s } = this.state;
    if (!s || s.before === before) return;
    s.goto(s.step, before);
    this.stage.refresh(0);
    if (this.following) showChange(this.stage, 0);
    this.state.changed("view");
  }

  /** Bring what the current rewrite touched to the middle. */
  showChange() {
    showChange(this.stage, this.state.ms(200));
  }

  /** Follow the change while stepping, or no longer. */
  toggleFollowing() {
    this.following = !this.following;
    if (this.following) showChange(this.stage, 200);
    this.state.changed("playing");
  }

  /** Speak of the steps again, no longer of a veto. */
  endVeto() {
    if (!this.state.vetoed) return;
    this.vetoing.clear();
    this.state.changed("step");
  }

  /** Mark nodes besides what a step did. @param {Mark | null} mark @param {string[]} ids */
  mark(mark, ids) {
    this.state.session?.mark(mark, ids);
    this.state.changed("marks");
  }

  /** To who does not see the canvas. @param {string} said */
  say(said) {
    this.state.set({ said });
  }

  /** Ask the server for something, or tell it. @param {string} name @param {any} value */
  send(name, value) {
    this.outbox.post(name, value);
  }
}

/** Another consumer of what a node reads, else another producer for what reads it. @param {Session} s @param {number} o @param {string} way */
function beside(s, o, way) {
  const cursor = s.cursorOf(o);
  const [siblings, mates] = [true, false].map((down) =>
    s.neighbours(o, !down, cursor).flatMap((p) => s.neighbours(p, down, cursor)),
  );
  const list = [...new Set(siblings.length > 1 ? siblings : mates)];
  return list[(list.indexOf(o) + (way === "right" ? 1 : list.length - 1)) % list.length];
}

/**
 * Where new nodes grow from: the middle of what they were made of.
 * @param {Session} s @param {Picture} old
 */
function originsOf(s, old) {
  /** @type {Map<number, {x: number, y: number}>} */
  const origins = new Map();
  for (const id of s.current?.added ?? []) {
    const sources = s.current?.from?.[id] ?? s.current?.matched ?? [];
    const boxes = sources
      .map((from) => old.byKey.get(s.boxOf(from)))
      .filter((b) => b !== undefined);
    const x = boxes.reduce((sum, b) => sum + b.x + b.w / 2, 0) / boxes.length;
    const y = boxes.reduce((sum, b) => sum + b.y + b.h / 2, 0) / boxes.length;
    if (boxes.length && s.knows(id)) origins.set(s.boxOf(id), { x, y });
  }
  return origins;
}
