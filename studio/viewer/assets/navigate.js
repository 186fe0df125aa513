// @ts-check
// Moving through the trace and through the tree of groups.

import { MOTION_MS } from "./stage.js";

const SMALL_GROUP = 70; // slots; a larger group is not opened on its own, it carries a badge
const SETTLE_MS = 220;
export const SPEEDS = [0.5, 1, 2, 4, 8, 16];

export class Navigator {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.following = true;
    this.speed = 1;
    /** false until someone steps: the card then speaks of the whole trace */
    this.touched = false;
    this.timer = 0;
    this.settling = 0;
    /** @type {Set<string>} groups opened to show a change, closed again when it has passed */
    this.lent = new Set();
  }

  get playing() {
    return this.timer !== 0;
  }

  reset() {
    this.stop();
    this.lent.clear();
    window.clearTimeout(this.settling);
  }

  /** @param {number} step @param {{dragging?: boolean, quiet?: boolean}} [how] */
  goto(step, how = {}) {
    const { viewer } = this;
    const s = viewer.session;
    if (!s) return;
    const target = Math.max(0, Math.min(s.steps.length, Math.round(step)));
    if (target === s.step) return;
    viewer.veto.clear();
    this.touched = true;
    const forward = target === s.step + 1;
    const near = Math.abs(target - s.step) === 1;
    const ms =
      viewer.motion && near && !how.dragging && !(this.playing && this.speed > 2) ? MOTION_MS : 0;
    const old = viewer.stage.panes[1].picture;
    s.goto(target);
    const origins = forward && ms && old ? this.#origins(old) : undefined;
    viewer.stage.refresh(ms, { origins });
    if (this.following) viewer.stage.follow(viewer.motion && !how.dragging ? MOTION_MS : 0);
    viewer.shell.renderStep();
    viewer.report.touch();
    window.clearTimeout(this.settling);
    this.settling = window.setTimeout(
      () => this.#settle(),
      this.playing ? SETTLE_MS / 2 : SETTLE_MS,
    );
  }

  /**
   * Where new nodes grow from: the middle of what they were made of.
   * @param {import("./place.js").Picture} old
   */
  #origins(old) {
    const s = /** @type {import("./session.js").Session} */ (this.viewer.session);
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
    const { viewer } = this;
    const s = viewer.session;
    viewer.live.step();
    if (!s || !this.following || (this.playing && this.speed > 2)) return;
    /** @type {Set<import("./group.js").Group>} */
    const need = new Set();
    const keep = new Set();
    for (const set of Object.values(s.touched())) {
      for (const o of set) {
        if (!s.early.alive[o] && !s.late.alive[o]) continue;
        for (const g of s.tree.closedAbove(s.union.slotOf[o])) need.add(g);
        for (let g = /** @type {any} */ (s.tree.groupOf[s.union.slotOf[o]]); g; g = g.parent)
          keep.add(g.id);
      }
    }
    const boxes = [...need].reduce((sum, g) => sum + g.slots.length + g.kids.length, 0);
    const opens = boxes <= SMALL_GROUP ? [...need] : [];
    const closes = [...this.lent].filter((id) => !keep.has(id));
    if (!opens.length && !closes.length) return;
    const anchor = opens.length ? s.layout.slots + opens[0].at : undefined;
    for (const id of closes) {
      const g = s.tree.byId.get(id);
      if (g) s.tree.set(g, false);
      this.lent.delete(id);
    }
    for (const g of opens) {
      s.tree.set(g, true);
      this.lent.add(g.id);
    }
    s.relayout();
    viewer.stage.refresh(viewer.motion ? MOTION_MS : 0, { anchor });
    viewer.stage.follow(viewer.motion ? MOTION_MS : 0);
    viewer.shell.twinChanged();
  }

  /** @param {number} ms */
  follow(ms) {
    this.viewer.stage.follow(ms);
  }

  /** @param {number} by */
  stepBy(by) {
    const s = this.viewer.session;
    if (s) this.goto(s.step + by);
  }

  /** To the first step of the next run of one pass, or of the previous one. @param {1 | -1} way */
  passBy(way) {
    const s = this.viewer.session;
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

  togglePlay() {
    const s = this.viewer.session;
    if (!s || !s.steps.length) return;
    if (this.playing) {
      this.stop();
      return;
    }
    if (s.step >= s.steps.length) this.goto(0);
    this.#schedule();
  }

  #schedule() {
    this.timer = window.setInterval(() => {
      const s = this.viewer.session;
      if (!s || s.step >= s.steps.length) {
        this.stop();
        return;
      }
      this.goto(s.step + 1);
    }, 900 / this.speed);
    this.viewer.shell.renderPlay();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    if (this.playing) {
      window.clearInterval(this.timer);
      this.#schedule();
    }
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.viewer.shell?.renderPlay();
  }

  /** @param {import("./group.js").Group} group @param {boolean} [want] */
  toggle(group, want) {
    const { viewer } = this;
    const s = viewer.session;
    if (!s || group === s.tree.root) return;
    const started = performance.now();
    this.lent.delete(group.id);
    s.tree.set(group, want ?? !s.tree.open[group.at]);
    s.relayout();
    viewer.stage.refresh(viewer.motion ? MOTION_MS : 0, { anchor: s.layout.slots + group.at });
    viewer.shell.twinChanged();
    viewer.report.touch();
    viewer.report.toggleMs = performance.now() - started;
  }

  /** Open what hides a node and bring it to the middle. @param {string} id */
  reveal(id) {
    const { viewer } = this;
    const s = viewer.session;
    const o = s?.union.index.get(id);
    if (!s || o === undefined) return;
    const target =
      s.late.alive[o] || s.early.alive[o] ? o : (s.history.heirs(o, s.late.alive)[0] ?? o);
    const slot = s.union.slotOf[target];
    const closed = s.tree.closedAbove(slot);
    if (closed.length) {
      for (const g of closed) {
        s.tree.set(g, true);
        this.lent.delete(g.id);
      }
      s.relayout();
      viewer.stage.refresh(0, { anchor: s.layout.slots + closed[0].at });
      viewer.shell.twinChanged();
    }
    viewer.stage.centre(
      slot,
      viewer.motion ? MOTION_MS : 0,
      s.late.alive[target] ? "after" : "before",
    );
  }

  /**
   * Open all groups (one more level of a large graph), fold all, or as at first.
   * @param {"more" | "none" | "first"} what
   */
  foldAll(what) {
    const { viewer } = this;
    const s = viewer.session;
    if (!s) return;
    if (what === "first") s.tree.openFirst();
    else if (what === "more") s.tree.openMore();
    else s.tree.openExactly([]);
    this.lent.clear();
    s.relayout();
    viewer.stage.refresh(0);
    viewer.stage.home();
    if (what !== "first" && this.touched) this.follow(0);
    viewer.shell.twinChanged();
    viewer.report.touch();
  }

  /** @param {"source" | "previous"} before */
  setBefore(before) {
    const { viewer } = this;
    const s = viewer.session;
    if (!s || s.before === before) return;
    s.goto(s.step, before);
    viewer.stage.refresh(0);
    if (this.following) viewer.stage.follow(0);
    viewer.report.touch();
  }
}
