// @ts-check
// The middle of the workbench: one or two panes, their camera, the loop that draws them.

import { Camera } from "./camera.js";
import { h, fill } from "../page/dom.js";
import { Stamped } from "../page/stamped.js";
import { HeightMap } from "../layout/height-map.js";
import { TITLE_H } from "../layout/metrics.js";
import { Minimap } from "./minimap.js";
import { Pane } from "./pane.js";
import { makeDraggable } from "./drag.js";
import { paneHeader } from "./header.js";

export const MOTION_MS = 320;

/** @typedef {Pick<Shell, "actions" | "pick" | "hover" | "tip">} StageHost what the stage asks of its frame */

export class Stage {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** Set by who builds the frame around it, before anybody can press anything. */
    this.host = /** @type {StageHost} */ (/** @type {unknown} */ (null));
    this.camera = new Camera();
    /** @type {1 | 2 | 3} */ this.mode = 1;
    /** @type {import("../film/spotlight.js").Spotlight | null} in a film */ this.spotlight = null;
    this.single = false;
    this.split = 0.5;
    /** @type {View | null} where the camera was put at first */ this.homeView = null;
    this.frame = 0;
    /** @type {Stamped<Map<number, BoxMark>>} */ this.marks = new Stamped();
    this.panes = [new Pane(this, 0), new Pane(this, 1)];
    this.minimap = new Minimap((x, y) => {
      this.camera.follow(1);
      this.camera.flyTo({ x, y }, 0);
      this.moved();
    });
    this.gutter = h("div.pl-gutter", {
      role: "separator",
      "aria-orientation": "vertical",
      "aria-label": "Move the split",
      "aria-valuenow": 50,
      tabindex: 0,
    });
    this.el = h("div.pl-stage", this.panes[0].el, this.gutter, this.panes[1].el);
    makeDraggable(this);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.el);
  }

  dispose() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  get session() {
    return this.state.session;
  }
  get theme() {
    return this.state.theme;
  }

  /** @returns {Pane[]} */
  get shown() {
    return this.mode === 1 && !this.single ? this.panes : [this.panes[1]];
  }

  /** @param {1 | 2 | 3} mode @param {boolean} single */
  setMode(mode, single = this.single) {
    this.camera.follow(1);
    this.mode = mode;
    this.single = single;
    this.applySplit();
    this.refresh(0);
  }

  applySplit() {
    const two = this.mode === 1 && !this.single;
    this.panes[0].el.hidden = !two;
    this.gutter.hidden = !two;
    this.gutter.setAttribute("aria-valuenow", String(Math.round(this.split * 100)));
    this.resized();
  }

  resized() {
    const two = this.mode === 1 && !this.single;
    this.el.style.gridTemplateColumns = two
      ? `${Math.round(this.split * (this.el.clientWidth - 5))}px 5px minmax(0, 1fr)`
      : "minmax(0, 1fr)";
    for (const p of this.shown) p.resize();
    this.draw();
  }

  /** Of another session nothing glides. */
  clear() {
    for (const p of this.panes) p.picture = null;
  }

  /** The user has moved the camera. */
  moved() {
    this.host.tip.hide();
    this.invalidate();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.camera.zoom(this.camera.lead, factor);
    this.invalidate();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.camera.pan(this.camera.lead, dx, dy);
    this.invalidate();
  }

  /**
   * Take the session's pictures; what the middle of the view showed stays where it was.
   * @param {number} ms
   * @param {{anchor?: number, anchorPane?: number, origins?: Map<number, {x: number, y: number}>}} [how]
   */
  refresh(ms, how = {}) {
    const s = this.session;
    if (!s) return;
    const lead = this.camera.lead;
    const leader = this.panes[lead];
    const old = leader.picture;
    const key = how.anchor ?? (old ? nearest(old, this.camera.y, s.picture(leader.which)) : -1);
    const was = old?.byKey.get(key);
    for (const p of this.shown)
      p.show(s.picture(p.which), ms, p === this.panes[1] ? how.origins : undefined);
    this.camera.map =
      this.shown.length === 2 ? new HeightMap(s.picture("before"), s.picture("after")) : null;
    const is = was && leader.picture?.byKey.get(key);
    if (was && is && leader.picture !== old) {
      const dx = how.anchor === undefined ? 0 : is.x + is.w / 2 - was.x - was.w / 2;
      const dy = is.y - was.y;
      const to = { x: this.camera.x + dx, y: this.camera.y + dy };
      if (Math.abs(dx) + Math.abs(dy) <= 0.01) {
        // it stands where it stood
      } else if (leader.ms > 0) this.camera.flyTo(to, ms);
      else Object.assign(this.camera, to);
    }
    this.headers();
    this.invalidate();
  }

  /** Nobody has looked elsewhere since. */
  get atHome() {
    const { camera: c, homeView: v } = this;
    return v !== null && c.k === v.k && c.x === v.x && c.y === v.y;
  }

  /**
   * Where a box stands in the window; of an open group, its title.
   * @param {Box} box @param {Which} which
   */
  rectOf(box, which) {
    const index = which === "before" ? 0 : 1;
    const r = this.panes[index].canvas.getBoundingClientRect();
    const { k, x, y } = this.camera.view(index);
    const left = r.left + r.width / 2 + (box.x - x) * k;
    const top = r.top + r.height / 2 + (box.y - y) * k;
    const tall = box.kind === "open" ? TITLE_H : box.h;
    return { left, top, right: left + box.w * k, bottom: top + tall * k };
  }

  headers() {
    const s = this.session;
    if (!s) return;
    for (const { head, which } of this.panes) fill(head, paneHeader(s, which, this));
  }

  invalidate() {
    if (!this.frame)
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
  }

  draw() {
    const { session: s, theme } = this;
    if (!s || !theme) return;
    const now = performance.now();
    let moving = this.camera.tick(now);
    const shared = this.#shared(s, theme);
    for (const pane of this.shown) {
      const { which } = pane;
      if (!pane.picture) pane.show(s.picture(which), 0);
      const own = {
        marks: this.#marks(s, which),
        overlay: which === "overlay",
        value: this.state.overlay?.values(s, which) ?? (() => null),
        wireTag: this.state.overlay?.wires?.(s, which, theme) ?? null,
        counts: s.tally[which],
      };
      moving = pane.draw({ ...shared, ...own }, now) || moving;
    }
    const after = this.panes[1];
    this.minimap.draw(after, this.camera.view(1), this.#marks(s, after.which), theme);
    this.state.changed("drawn");
    if (moving) this.invalidate();
  }

  /** What all panes share. @param {Session} s @param {Theme} theme */
  #shared(s, theme) {
    const { selection } = this.state;
    const selected = selection?.boxes() ?? new Set();
    const inside = selection?.inside() ?? new Set();
    const { lit, near } = selected.size
      ? neighbourhood(s, new Set([...selected, ...inside]))
      : { lit: null, near: new Set() };
    for (const key of inside) near.add(key);
    const label = (/** @type {number} */ e) => edgeLabel(s, e);
    const { overlay: colours } = this.state;
    return { theme, metrics: s.metrics, selected, lit, near, inside, colours, edgeLabel: label };
  }

  /** @param {Session} s @param {Which} which */
  #marks(s, which) {
    if (this.spotlight) return this.spotlight.marks(s);
    const stamp = [s, s.folds, s.step, s.before, s.marked];
    return this.marks.get(which, stamp, () => s.marks(which));
  }
}

/** The box nearest to a height, of those that are in the next picture, too. @param {Picture} old @param {number} y @param {Picture} next */
function nearest(old, y, next) {
  let key = -1,
    best = Infinity;
  for (const b of old.boxes) {
    if (b.kind === "open" || !next.byKey.has(b.key)) continue;
    const d = Math.abs(b.y + b.h / 2 - y);
    if (d < best) {
      best = d;
      key = b.key;
    }
  }
  return key;
}

/** What a wire carries. @param {Session} s @param {number} e */
function edgeLabel(s, e) {
  const rec = s.history.record(s.union.from[e], s.step);
  return rec.out?.[s.union.fromPort[e]]?.[3] ?? "";
}

/**
 * Pairs of boxes that an edge of the given boxes joins, and the boxes at their other ends.
 * @param {Session} s @param {Set<number>} keys
 */
function neighbourhood(s, keys) {
  const { wiring, slots } = s.layout;
  const lit = new Set(),
    near = new Set();
  const hubKeys = new Set([...keys].filter((k) => k < slots));
  for (let p = 0; p < wiring.count; p++) {
    const from = keys.has(wiring.source[p]) || hubKeys.has(wiring.sourceSlot[p]);
    if (!from && !keys.has(wiring.target[p])) continue;
    lit.add(p);
    near.add(from ? wiring.target[p] : wiring.source[p]);
  }
  return { lit, near };
}
