// @ts-check
// Everything that can be done to what is shown, by name: what buttons, keys, links and the server ask
// for. Nobody else changes the state.

import { OVERLAYS } from "../overlays/registry.js";

/** @typedef {{state: import("../session/state.js").State, actions: Actions}} Context what most parts are given */

export class Actions {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.state = viewer.state;
  }

  /** @param {string | null} id of a node or a group @param {{reveal?: boolean}} [how] */
  select(id, how = {}) {
    const { nav, report } = this.viewer;
    if (id !== this.state.selected) nav.play.all();
    report.touch();
    if (id !== null && how.reveal) nav.reveal(id);
    this.state.set({ selected: id });
    this.viewer.shell.showSelection();
    this.viewer.announcer.selection();
  }

  /** Select the group around what is selected, if there is one. */
  selectAround() {
    const around = this.state.selection?.around;
    if (around) this.select(around, { reveal: true });
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
  goto(step, how) {
    this.viewer.nav.goto(step, how);
  }

  /** @param {number} by */
  stepBy(by) {
    this.viewer.nav.stepBy(by);
  }

  /** To where the next run of one pass begins, or the previous one. @param {1 | -1} way */
  passBy(way) {
    this.viewer.nav.passBy(way);
  }

  /** To the next step that touches what is selected, or to the previous one. @param {1 | -1} way */
  touchBy(way) {
    this.viewer.nav.touchBy(way);
  }

  /** Play the steps, or pause. */
  play() {
    this.viewer.nav.play.toggle();
  }

  /** Play some steps and no others, or pause them. @param {number[]} steps */
  playOnly(steps) {
    this.viewer.nav.play.toggleOnly(steps);
  }

  pause() {
    this.viewer.nav.play.stop();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.viewer.nav.play.setSpeed(speed);
  }

  /** Bring what the current rewrite touched to the middle. @param {number} ms */
  follow(ms) {
    this.viewer.nav.follow(ms);
  }

  /** @param {import("../types.js").StepRecord} step that must not happen */
  veto(step) {
    this.viewer.veto.ask(step);
  }

  /** Let a vetoed rewrite happen again. @param {string} match */
  allow(match) {
    this.viewer.veto.allow(match);
  }

  undoVeto() {
    this.viewer.veto.undo();
  }

  /** Speak of the steps again, no longer of a veto. */
  endVeto() {
    if (!this.state.vetoed) return;
    this.viewer.veto.clear();
    this.state.changed("step");
  }

  /** The user looks at something worth keeping: the server hears of it a little later. */
  keepView() {
    this.viewer.report.touch();
  }

  /** The keyboard goes to the graph. */
  focusGraph() {
    this.viewer.shell.root.focus({ preventScroll: true });
  }

  /** The step's card stands first in its panel. */
  showStepCard() {
    this.viewer.shell.right.scrollTop = 0;
  }

  layoutPanels() {
    this.state.changed("panels");
  }

  /** Open what hides a node or a group and bring it to the middle. @param {string} id */
  reveal(id) {
    this.viewer.nav.reveal(id);
  }

  /** @param {import("../trace/group.js").Group} group */
  toggle(group) {
    this.viewer.nav.toggle(group);
  }

  /** Mark nodes besides what a step did. @param {import("../canvas/draw.js").Mark | null} mark @param {string[]} ids */
  mark(mark, ids) {
    this.state.session?.mark(mark, ids);
    this.state.changed("marks");
  }

  /** To who does not see the canvas. @param {string} text */
  say(text) {
    this.viewer.announcer.say(text);
  }

  /** Ask the server for something. @param {string} name @param {any} value */
  send(name, value) {
    this.viewer.component?.setTriggerValue(name, value);
  }
}
