// @ts-check
// The middle of the workbench: one or two panes, their camera, the loop that draws them.

import { Camera } from "./camera.js";
import { h, fill } from "../page/dom.js";
import { TITLE_H } from "../layout/metrics.js";
import { Minimap } from "./minimap.js";
import { Pane } from "./pane.js";
import { paneHost } from "./pointer.js";
import { paneHeader } from "./header.js";
import { makeDraggable } from "./splitter.js";
import { showAll, showBox, showChange, showTop } from "./framing.js";
import { edgeLabel, nearest, neighbourhood } from "./nearby.js";

/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../session/session.js").Which} Which */
/** @typedef {import("../layout/placement.js").Box} Box */

export const MOTION_MS = 320;

/**
 * @typedef {object} StageHost what the stage asks of the viewer
 * @property {(box: Box | null, which: Which) => void} pick
 * @property {(box: Box, which: Which) => void} toggle
 * @property {(box: Box | null, event: MouseEvent | null, which: Which) => void} hover
 * @property {(before: "source" | "previous") => void} setBefore
 * @property {() => void} endComparison
 * @property {() => void} moved the user moved the camera
 * @property {() => void} drawn after every real drawing
 * @property {() => import("../session/selection.js").Selection | null} selection
 */

export class Stage {
  /** @param {StageHost} host */
  constructor(host) {
    this.host = host;
    this.camera = new Camera();
    /** @type {Session | null} */ this.session = null;
    /** @type {import("../page/theme.js").Theme | null} */ this.theme = null;
    /** @type {1 | 2 | 3} */ this.mode = 1;
    /** @type {import("../overlays/overlay.js").Overlay | null} whose numbers are colours */
    this.overlay = null;
    /** @type {import("../film/spotlight.js").Spotlight | null} in a film */ this.spotlight = null;
    this.single = false;
    /** The rewrites are being made. */
    this.busy = false;
    this.split = 0.5;
    /** @type {import("./camera.js").View | null} */ this.homeView = null;
    this.frame = 0;
    /**
     * @type {Map<Which, {stamp: string, marks: Map<number, import("./draw.js").BoxMark>, session:
     * Session}>}
     */
    this.markCache = new Map();
    this.canvases = [0, 1].map((i) =>
      h("canvas", { role: "img", "aria-label": i ? "Graph after" : "Graph before", tabindex: -1 }),
    );
    /** @type {Pane[]} */
    this.panes = this.canvases.map((canvas) => new Pane(canvas, paneHost(this)));
    this.minimap = new Minimap((x, y) => {
      this.camera.follow(1);
      this.camera.flyTo({ x, y }, 0);
      host.moved();
      this.invalidate();
    });
    this.heads = [h("div.pl-head"), h("div.pl-head")];
    this.cells = [0, 1].map((i) => h("div.pl-pane", this.heads[i], this.canvases[i]));
    this.gutter = h("div.pl-gutter", {
      role: "separator",
      "aria-orientation": "vertical",
      "aria-label": "Move the split",
      "aria-valuenow": 50,
      tabindex: 0,
    });
    this.el = h("div.pl-stage", this.cells[0], this.gutter, this.cells[1]);
    makeDraggable(this);
    this.observer = new ResizeObserver(() => {
      this.resized();
    });
    this.observer.observe(this.el);
  }

  dispose() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.session = null;
  }

  /** @param {Pane} pane @returns {Which} */
  which(pane) {
    return pane === this.panes[0]
      ? "before"
      : this.mode === 2 && !this.single
        ? "overlay"
        : "after";
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
    this.cells[0].hidden = !two;
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

  /** @param {Session} session */
  setSession(session) {
    this.session = session;
    for (const p of this.panes) p.picture = null;
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
    const key =
      how.anchor ?? (old ? nearest(old, this.camera.y, s.picture(this.which(leader))) : -1);
    const was = old?.byKey.get(key);
    for (const p of this.shown)
      p.show(s.picture(this.which(p)), ms, p === this.panes[1] ? how.origins : undefined);
    this.camera.map = this.shown.length === 2 ? s.heightMap() : null;
    const is = was && leader.picture?.byKey.get(key);
    if (was && is && leader.picture !== old) {
      const dx = how.anchor === undefined ? 0 : is.x + is.w / 2 - was.x - was.w / 2;
      const dy = is.y - was.y;
      if (Math.abs(dx) + Math.abs(dy) > 0.01) {
        const to = { x: this.camera.x + dx, y: this.camera.y + dy };
        if (leader.ms > 0) this.camera.flyTo(to, ms);
        else {
          this.camera.x = to.x;
          this.camera.y = to.y;
        }
      }
    }
    this.headers();
    this.invalidate();
  }

  /** The top of the graph, readable. */
  home() {
    showTop(this);
    const { k, x, y } = this.camera;
    this.homeView = { k, x, y };
  }

  /** Nobody has looked elsewhere since. */
  get atHome() {
    const { camera: c, homeView: v } = this;
    return v !== null && c.k === v.k && c.x === v.x && c.y === v.y;
  }

  /** @param {number} ms */
  fit(ms) {
    showAll(this, ms);
  }

  /** Bring a box to the middle. @param {number} key @param {number} ms @param {Which} [prefer] */
  centre(key, ms, prefer) {
    showBox(this, key, ms, prefer);
  }

  /** Bring what the current rewrite touched to the middle. @param {number} ms */
  follow(ms) {
    showChange(this, ms);
  }

  /**
   * Where a box stands in the window; of an open group, its title.
   * @param {Box} box @param {Which} which
   */
  rectOf(box, which) {
    const index = which === "before" ? 0 : 1;
    const r = this.canvases[index].getBoundingClientRect();
    const { k, x, y } = this.camera.view(index);
    const left = r.left + r.width / 2 + (box.x - x) * k;
    const top = r.top + r.height / 2 + (box.y - y) * k;
    const tall = box.kind === "open" ? TITLE_H : box.h;
    return { left, top, right: left + box.w * k, bottom: top + tall * k };
  }

  headers() {
    const s = this.session;
    if (!s) return;
    fill(this.heads[0], paneHeader(s, "before", this));
    fill(this.heads[1], paneHeader(s, this.which(this.panes[1]), this));
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
    const selection = this.host.selection();
    const selected = selection?.boxes() ?? new Set();
    const inside = selection?.inside() ?? new Set();
    const { lit, near } = selected.size
      ? neighbourhood(s, new Set([...selected, ...inside]))
      : { lit: null, near: new Set() };
    for (const key of inside) near.add(key);
    for (const pane of this.shown) {
      const which = this.which(pane);
      if (!pane.picture) pane.show(s.picture(which), 0);
      const look = {
        theme,
        metrics: s.metrics,
        marks: this.#marks(which),
        selected,
        lit,
        near,
        overlay: which === "overlay",
        shading: this.#shading(s, which, theme),
        inside,
        counts: s.counts(which),
        edgeLabel: (/** @type {number} */ e) => edgeLabel(s, e),
      };
      moving = pane.draw(look, now) || moving;
    }
    this.minimap.draw(
      this.panes[1],
      this.camera.view(1),
      this.#marks(this.which(this.panes[1])),
      theme,
    );
    this.host.drawn();
    if (moving) this.invalidate();
  }

  /**
   * @param {Session} s @param {Which} which @param {import("../page/theme.js").Theme} theme
   * @returns {import("./draw.js").Shading | null}
   */
  #shading(s, which, theme) {
    const { overlay } = this;
    return (
      overlay && {
        value: overlay.values(s, which),
        colour: (share) => overlay.colour(theme, share),
        label: (value) => overlay.label(value),
      }
    );
  }

  /** @param {Which} which */
  #marks(which) {
    const s = /** @type {Session} */ (this.session);
    if (this.spotlight) return this.spotlight.marks(s);
    const stamp = `${s.folds}|${s.step}|${s.before}|${s.marked}|${which}`;
    const known = this.markCache.get(which);
    if (known?.stamp === stamp && known.session === s) return known.marks;
    const marks = s.marks(which);
    this.markCache.set(which, { stamp, marks, session: s });
    return marks;
  }
}
