// @ts-check
// Everything that can be done to what is shown, by name: what buttons, keys, links and the server ask
// for. Nobody else changes the state.

import { OVERLAYS } from "../overlays/registry.js";

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
    this.viewer.live.selection();
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
    this.viewer.live.say(text);
  }

  /** Ask the server for something. @param {string} name @param {any} value */
  send(name, value) {
    this.viewer.component?.setTriggerValue(name, value);
  }
}
