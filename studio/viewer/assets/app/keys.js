// @ts-check
// The keyboard: on the whole page, wherever nobody types. Inside this component handled keys, and
// Streamlit's own r and c, go no further.

import { OVERLAYS } from "../overlays/registry.js";
import { isMeantFor, isMeantForThePage } from "../page/typing.js";

const IN_SIGHT = 0.6; // of its height: a page may hold more than the viewer

export class Keys {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    viewer.shell.root.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) =>
      this.#down(e),
    );
    this.onPage = (/** @type {KeyboardEvent} */ e) => this.#elsewhere(e);
    document.addEventListener("keydown", this.onPage);
  }

  dispose() {
    document.removeEventListener("keydown", this.onPage);
  }

  /** A key pressed outside the viewer. @param {KeyboardEvent} e */
  #elsewhere(e) {
    const { root, help } = this.viewer.shell;
    if (e.defaultPrevented || e.composedPath().includes(root)) return;
    if (help.active) {
      if (e.key === "Escape" || e.key === "?") help.close();
      return;
    }
    if (e.ctrlKey || e.metaKey || "rRcC".includes(e.key)) return;
    if (isMeantForThePage(e) || !this.#inSight() || !this.#handle(e)) return;
    e.preventDefault();
  }

  #inSight() {
    const { root } = this.viewer.shell;
    const { top, bottom, height } = root.getBoundingClientRect();
    const seen = Math.min(bottom, window.innerHeight) - Math.max(top, 0);
    return root.checkVisibility() && seen > Math.min(height, window.innerHeight) * IN_SIGHT;
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    const target = /** @type {HTMLElement} */ (e.composedPath()[0]);
    const { help } = this.viewer.shell;
    if (help.active) {
      e.stopPropagation();
      if (!["Escape", "?", "Tab"].includes(e.key)) return;
      e.preventDefault();
      if (e.key !== "Tab") help.close();
      return;
    }
    if (isMeantFor(target, e.key)) {
      e.stopPropagation();
      return;
    }
    if (e.ctrlKey || e.metaKey) return;
    if ("rRcC".includes(e.key)) {
      e.stopPropagation();
      return;
    }
    if (!this.#handle(e)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** @param {KeyboardEvent} e @returns {boolean} */
  #handle(e) {
    const { viewer } = this;
    const { nav, stage, shell } = viewer;
    const ms = viewer.state.motion ? 200 : 0;
    if (e.altKey || e.shiftKey) {
      const way = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" }[
        e.key
      ];
      if (way) {
        this.walk(/** @type {"up" | "down" | "left" | "right"} */ (way));
        return true;
      }
    }
    const { mode } = viewer.state.data ?? {};
    if (mode === "film" && this.#film(e.key)) return true;
    const single = mode !== "rewrite";
    /** @type {Map<string, () => void>} */
    const always = new Map([
      ["f", () => stage.fit(ms)],
      ["/", () => shell.search.open()],
      ["?", () => shell.help.open(shell.mode)],
      ["Escape", () => this.#escape()],
      ["+", () => this.#zoom(1.25)],
      ["=", () => this.#zoom(1.25)],
      ["-", () => this.#zoom(0.8)],
      ["0", () => nav.foldAll("first")],
      ["o", () => this.#fold()],
      ["u", () => this.viewer.actions.selectAround()],
      ["e", () => nav.foldAll("more")],
      ["E", () => nav.foldAll("none")],
      ["d", () => shell.toggleRight()],
      ["ArrowUp", () => this.#pan(0, 60)],
      ["ArrowDown", () => this.#pan(0, -60)],
    ]);
    for (const { id, key } of OVERLAYS) always.set(key, () => viewer.actions.toggleOverlay(id));
    /** @type {Map<string, () => void>} */
    const rewrite = new Map([
      ["ArrowLeft", () => nav.stepBy(-1)],
      ["ArrowRight", () => nav.stepBy(1)],
      ["[", () => nav.passBy(-1)],
      ["]", () => nav.passBy(1)],
      [",", () => nav.touchBy(-1)],
      [".", () => nav.touchBy(1)],
      [" ", () => nav.play.toggle()],
      ["Home", () => nav.goto(0)],
      ["End", () => nav.goto(Infinity)],
      ["1", () => shell.setPanes(1)],
      ["2", () => shell.setPanes(2)],
      ["3", () => shell.setPanes(3)],
      ["g", () => stage.follow(ms)],
      ["p", () => shell.toggleLeft()],
    ]);
    if (single) {
      always.set("ArrowLeft", () => this.#pan(60, 0));
      always.set("ArrowRight", () => this.#pan(-60, 0));
    }
    const act = always.get(e.key) ?? (single ? undefined : rewrite.get(e.key));
    act?.();
    return act !== undefined;
  }

  /** @param {string} key @returns {boolean} */
  #film(key) {
    const { film: panel } = this.viewer.shell;
    const { player } = panel;
    /** @type {Map<string, () => void>} */
    const film = new Map([
      ["ArrowLeft", () => player.eventBy(-1)],
      ["ArrowRight", () => player.eventBy(1)],
      ["ArrowUp", () => player.nodeBy(-1)],
      ["ArrowDown", () => player.nodeBy(1)],
      ["[", () => player.nodeBy(-1)],
      ["]", () => player.nodeBy(1)],
      [" ", () => player.toggle()],
      ["Home", () => player.cut(0)],
      ["End", () => player.cut(Infinity)],
      ["<", () => player.faster(-1)],
      [">", () => player.faster(1)],
      ["g", () => panel.pick(this.viewer.state.selected)],
    ]);
    const act = film.get(key);
    act?.();
    return act !== undefined;
  }

  #escape() {
    const { shell } = this.viewer;
    if (shell.search.active) shell.search.close();
    else this.viewer.actions.select(null);
    shell.root.focus({ preventScroll: true });
  }

  /** @param {number} factor */
  #zoom(factor) {
    this.viewer.stage.camera.zoom(this.viewer.stage.camera.lead, factor);
    this.viewer.stage.invalidate();
  }

  /** @param {number} dx @param {number} dy */
  #pan(dx, dy) {
    this.viewer.stage.camera.pan(this.viewer.stage.camera.lead, dx, dy);
    this.viewer.stage.invalidate();
  }

  #fold() {
    const { nav, state } = this.viewer;
    const { session: s, selection } = state;
    const o = selection?.node;
    const group = o === undefined ? selection?.group : s?.tree.groupOf[s.union.slotOf[o]];
    if (s && group) nav.toggle(s.tree.closedFrom(group)[0] ?? group);
  }

  /**
   * Follow an edge: up to a producer, down to a consumer, sideways to another consumer of the same
   * producer.
   * @param {"up" | "down" | "left" | "right"} way
   */
  walk(way) {
    const { session: s, selected } = this.viewer.state;
    if (!s) return;
    const o = selected === null ? undefined : s.union.index.get(selected);
    if (o === undefined) {
      this.viewer.actions.select(s.graph.inputs[0]?.id ?? s.graph.nodes[0]?.id ?? null, {
        reveal: true,
      });
      return;
    }
    const cursor = s.afterCursor.alive[o] ? s.afterCursor : s.beforeCursor;
    const ends = (/** @type {number} */ from, /** @type {boolean} */ down) => {
      const list = [];
      for (let e = 0; e < s.union.from.length; e++) {
        if (cursor.edgeAlive[e] && (down ? s.union.from[e] : s.union.to[e]) === from)
          list.push(down ? s.union.to[e] : s.union.from[e]);
      }
      return [...new Set(list)];
    };
    let next;
    if (way === "up" || way === "down") next = ends(o, way === "down")[0];
    else {
      const siblings = ends(o, false).flatMap((p) => ends(p, true));
      const ring =
        siblings.length > 1
          ? [...new Set(siblings)]
          : [...new Set(ends(o, true).flatMap((p) => ends(p, false)))];
      const i = ring.indexOf(o);
      next = ring[(i + (way === "right" ? 1 : ring.length - 1)) % ring.length];
    }
    if (next !== undefined && next !== o)
      this.viewer.actions.select(s.union.recs[next].id, { reveal: true });
  }
}
