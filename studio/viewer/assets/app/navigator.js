// @ts-check
// Moving through the trace and through the tree of groups.

import { Playing } from "../scrubber/playback.js";
import { MOTION_MS } from "../canvas/stage.js";

const SMALL_GROUP = 70; // slots; a larger group is not opened on its own, it carries a badge
const SETTLE_MS = 220;

export class Navigator {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.state = viewer.state;
    this.following = true;
    this.play = new Playing(this);
    this.settling = 0;
  }

  get playing() {
    return this.play.on;
  }

  reset() {
    this.play.all();
    this.play.stop();
    this.state.opened.clear();
    window.clearTimeout(this.settling);
    this.settling = 0;
  }

  /** @param {number} step @param {{dragging?: boolean, quiet?: boolean}} [how] */
  goto(step, how = {}) {
    const { viewer } = this;
    const s = viewer.state.session;
    if (!s) return;
    const target = Math.max(0, Math.min(s.steps.length, Math.round(step)));
    if (target === s.step) return;
    viewer.veto.clear();
    if (!this.state.stepped) this.state.set({ stepped: true });
    const forward = target === s.step + 1;
    const near = Math.abs(target - s.step) === 1;
    const ms =
      viewer.state.motion && near && !how.dragging && !(this.playing && this.play.speed > 2)
        ? MOTION_MS
        : 0;
    const old = viewer.stage.panes[1].picture;
    s.goto(target);
    const origins = forward && ms && old ? this.#origins(old) : undefined;
    viewer.stage.refresh(ms, { origins });
    if (this.following) viewer.stage.follow(viewer.state.motion && !how.dragging ? MOTION_MS : 0);
    this.state.changed("step");
    viewer.report.touch();
    window.clearTimeout(this.settling);
    this.settling = window.setTimeout(
      () => this.#settle(),
      this.playing ? SETTLE_MS / 2 : SETTLE_MS,
    );
  }

  /**
   * Where new nodes grow from: the middle of what they were made of.
   * @param {import("../layout/placement.js").Picture} old
   */
  #origins(old) {
    const s = /** @type {import("../session/session.js").Session} */ (this.viewer.state.session);
    const origins = new Map();
    for (const id of s.current?.added ?? []) {
      const o = s.union.index.get(id);
      if (o === undefined) continue;
      let x = 0,
        y = 0,
        n = 0;
      for (const from of s.current?.from?.[id] ?? s.current?.matched ?? []) {
        const b = old.byKey.get(s.boxOf(from));
        if (b) {
          x += b.x + b.w / 2;
          y += b.y + b.h / 2;
          n++;
        }
      }
      if (n) origins.set(s.tree.boxOf(s.union.slotOf[o]), { x: x / n, y: y / n });
    }
    return origins;
  }

  /**
   * The hand has come to rest: open a small closed group around the change, close the one opened
   * before.
   */
  #settle() {
    this.settling = 0;
    const { viewer } = this;
    const s = viewer.state.session;
    viewer.announcer.step();
    if (!s || !this.following || (this.playing && this.play.speed > 2)) return;
    /** @type {Set<import("../trace/group.js").Group>} */
    const need = new Set();
    const keep = new Set();
    for (const set of Object.values(s.touched())) {
      for (const o of set) {
        if (!s.beforeCursor.alive[o] && !s.afterCursor.alive[o]) continue;
        for (const g of s.tree.closedAbove(s.union.slotOf[o])) need.add(g);
        for (let g = /** @type {any} */ (s.tree.groupOf[s.union.slotOf[o]]); g; g = g.parent)
          keep.add(g.id);
      }
    }
    const boxes = [...need].reduce((sum, g) => sum + g.slots.length + g.kids.length, 0);
    const opens = boxes <= SMALL_GROUP ? [...need] : [];
    const closes = [...this.state.opened].filter((id) => !keep.has(id));
    if (!opens.length && !closes.length) return;
    const anchor = opens.length ? s.layout.slots + opens[0].at : undefined;
    for (const id of closes) {
      const g = s.tree.byId.get(id);
      if (g) s.tree.set(g, false);
      this.state.opened.delete(id);
    }
    for (const g of opens) {
      s.tree.set(g, true);
      this.state.opened.add(g.id);
    }
    s.relayout();
    viewer.stage.refresh(viewer.state.motion ? MOTION_MS : 0, { anchor });
    viewer.stage.follow(viewer.state.motion ? MOTION_MS : 0);
    this.state.changed("folding");
  }

  /** @param {number} ms */
  follow(ms) {
    this.viewer.stage.follow(ms);
  }

  /** @param {number} by */
  stepBy(by) {
    const s = this.viewer.state.session;
    if (s) this.goto(s.step + by);
  }

  /** To the first step of the next run of one pass, or of the previous one. @param {1 | -1} way */
  passBy(way) {
    const s = this.viewer.state.session;
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
    const to = way > 0 ? steps.find((n) => n > at) : steps.filter((n) => n < at).pop();
    if (to !== undefined) this.arrive(to);
    else
      this.viewer.announcer.say(
        selection ? "No more steps touch it." : "Select a node or a group first.",
      );
  }

  /** To a step from the one before it, so that one sees what it does. @param {number} step */
  arrive(step) {
    const s = this.viewer.state.session;
    if (s && Math.abs(step - s.step) > 1) {
      s.goto(step - 1);
      this.viewer.stage.refresh(0);
    }
    this.goto(step);
  }

  /** @param {import("../trace/group.js").Group} group @param {boolean} [want] */
  toggle(group, want) {
    const { viewer } = this;
    const s = viewer.state.session;
    if (!s || group === s.tree.root) return;
    const started = performance.now();
    this.state.opened.delete(group.id);
    s.tree.set(group, want ?? !s.tree.open[group.at]);
    s.relayout();
    viewer.stage.refresh(viewer.state.motion ? MOTION_MS : 0, {
      anchor: s.layout.slots + group.at,
    });
    this.state.changed("folding");
    viewer.report.touch();
    viewer.report.toggleMs = performance.now() - started;
  }

  /** Open what hides a node or a group and bring it to the middle. @param {string} id */
  reveal(id) {
    const { viewer } = this;
    const s = viewer.state.session;
    const o = s?.union.index.get(id);
    const group = s?.tree.byId.get(id);
    const ms = viewer.state.motion ? MOTION_MS : 0;
    if (s && o === undefined && group?.parent) {
      this.#openAll(s.tree.closedFrom(group.parent));
      const there = s.counts("after")[group.at] > 0;
      viewer.stage.centre(s.layout.slots + group.at, ms, there ? "after" : "before");
    }
    if (!s || o === undefined) return;
    const target =
      s.afterCursor.alive[o] || s.beforeCursor.alive[o] ? o : (s.counterparts(o)[0] ?? o);
    const slot = s.union.slotOf[target];
    this.#openAll(s.tree.closedAbove(slot));
    viewer.stage.centre(slot, ms, s.afterCursor.alive[target] ? "after" : "before");
  }

  /** @param {import("../trace/group.js").Group[]} closed outermost first */
  #openAll(closed) {
    const { viewer } = this;
    const s = viewer.state.session;
    if (!s || !closed.length) return;
    for (const g of closed) {
      s.tree.set(g, true);
      this.state.opened.delete(g.id);
    }
    s.relayout();
    viewer.stage.refresh(0, { anchor: s.layout.slots + closed[0].at });
    this.state.changed("folding");
  }

  /**
   * Open all groups (one more level of a large graph), fold all, or as at first.
   * @param {"more" | "none" | "first"} what
   */
  foldAll(what) {
    const { viewer } = this;
    const s = viewer.state.session;
    if (!s) return;
    if (what === "first") s.tree.openFirst();
    else if (what === "more") s.tree.openMore();
    else s.tree.openExactly([]);
    this.state.opened.clear();
    s.relayout();
    viewer.stage.refresh(0);
    viewer.stage.home();
    if (what !== "first" && this.state.stepped) this.follow(0);
    this.state.changed("folding");
    viewer.report.touch();
  }

  /** @param {"source" | "previous"} before */
  setBefore(before) {
    const { viewer } = this;
    const s = viewer.state.session;
    if (!s || s.before === before) return;
    s.goto(s.step, before);
    viewer.stage.refresh(0);
    if (this.following) viewer.stage.follow(0);
    viewer.report.touch();
  }
}
