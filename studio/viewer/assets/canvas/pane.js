// @ts-check
// One canvas with its pointer: hit test, hover, pan, zoom, and the animation between two pictures.

import { ease } from "./camera.js";
import { h } from "../page/dom.js";
import { capture } from "./drag.js";
import { drawPane } from "./draw.js";
import { FOLD_W, TITLE_H } from "../layout/metrics.js";
import { penOf, TEXT_LOD } from "./pen.js";
import { boxBetween, wiresBetween } from "./motion.js";

const MOST_ANIMATED = 2500;
const PINCH = 0.01; // zoom, in powers of e, per pixel
const NOTCH = 0.3; // at most, per event

export class Pane {
  /** @param {Stage} stage @param {0 | 1} index before, after */
  constructor(stage, index) {
    this.stage = stage;
    this.index = index;
    const label = index ? "Graph after" : "Graph before";
    this.canvas = h("canvas", { role: "img", "aria-label": label, tabindex: -1 });
    this.head = h("div.pl-head");
    this.el = h("div.pl-pane", this.head, this.canvas);
    this.c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.width = 0;
    this.height = 0;
    /** @type {Picture | null} */ this.picture = null;
    /** @type {Picture | null} */ this.old = null;
    /** @type {Map<number, {x: number, y: number}>} */ this.origins = new Map();
    /** @type {Box[]} */ this.ghosts = [];
    this.started = 0;
    this.ms = 0;
    /** @type {number} */ this.hover = -1;
    /** @type {Scene | null} as it was drawn last */ this.scene = null;
    /** the pointer is on the fold mark of that box */ this.folds = false;
    /** @type {{x: number, y: number, moved: boolean} | null} */ this.drag = null;
    /** what was pressed last was dragged: no click follows */ this.dragged = false;
    this.#listen();
  }

  /** @returns {Which} */
  get which() {
    const { mode, single } = this.stage;
    return !this.index ? "before" : mode === 2 && !single ? "overlay" : "after";
  }

  /** Part of the graph that it shows. */
  get view() {
    return this.stage.camera.view(this.index);
  }

  resize() {
    this.width = Math.max(1, Math.floor(this.el.clientWidth));
    this.height = Math.max(1, Math.floor(this.el.clientHeight - this.head.offsetHeight));
    this.dpr = window.devicePixelRatio || 1;
    penOf(this.canvas, this.width, this.height, { fixed: true });
  }

  /**
   * Show another picture. New boxes grow out of `origins`, boxes that go fade where they were.
   * @param {Picture} picture
   * @param {number} ms 0 = at once
   * @param {Map<number, {x: number, y: number}>} [origins]
   */
  show(picture, ms, origins = new Map()) {
    const old = this.picture;
    this.picture = picture;
    if (old === picture && !this.#moving()) return;
    const animate =
      ms > 0 && old !== null && old !== picture && picture.boxes.length < MOST_ANIMATED;
    this.old = animate ? old : null;
    this.origins = origins;
    this.ms = animate ? ms : 0;
    this.started = performance.now();
    this.ghosts = [];
    if (!animate || !old) return;
    for (const b of old.boxes) {
      if (b.kind !== "node") continue;
      const now = picture.byKey.get(b.key);
      if (!now || now.occ !== b.occ) this.ghosts.push(b);
    }
  }

  #moving() {
    return this.ms > 0 && performance.now() - this.started < this.ms;
  }

  /** @param {number} now */
  progress(now) {
    return this.ms ? Math.min(1, Math.max(0, (now - this.started) / this.ms)) : 1;
  }

  /**
   * @param {Omit<Scene, "c" | "width" | "height" | "dpr" | "view" | "picture" |
   * "wires" | "at" | "progress" | "ghosts" | "hover" | "folds">} shared
   * @param {number} now
   * @returns {boolean} still moving
   */
  draw(shared, now) {
    const { picture } = this;
    if (!picture || !this.width) return false;
    const t = this.progress(now);
    const e = ease(t);
    if (t >= 1) {
      this.old = null;
      this.ghosts = [];
      this.ms = 0;
    }
    const old = this.old;
    const at = old
      ? (/** @type {Box} */ b) => boxBetween(b, old.byKey.get(b.key), this.origins.get(b.key), e)
      : (/** @type {Box} */ b) => ({ x: b.x, y: b.y, w: b.w, h: b.h, alpha: 1 });
    this.scene = {
      ...shared,
      c: this.c,
      width: this.width,
      height: this.height,
      dpr: this.dpr ?? 1,
      view: this.view,
      picture,
      wires: old ? wiresBetween(old, picture, e) : picture.wires,
      at,
      progress: e,
      ghosts: this.ghosts,
      hover: this.hover,
      folds: this.folds,
    };
    drawPane(this.scene);
    return t < 1;
  }

  /**
   * What it showed last, once more.
   * @param {CanvasRenderingContext2D} c @param {number} dpr pixels of the target for one of the page
   */
  paintOn(c, dpr) {
    if (this.scene) drawPane({ ...this.scene, c, dpr, hover: -1 });
  }

  /** @param {number} px @param {number} py from the canvas' corner @returns {Box | null} */
  hit(px, py) {
    if (!this.picture) return null;
    const v = this.view;
    const x = v.x + (px - this.width / 2) / v.k;
    const y = v.y + (py - this.height / 2) / v.k;
    const inside = (/** @type {Box} */ b) =>
      x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h;
    const found = this.picture.boxes.findLast(
      (b) => inside(b) && (b.kind !== "open" || y < b.y + TITLE_H),
    );
    return found ?? null;
  }

  /** Is a point on the fold mark of a group? @param {Box | null} box @param {number} px */
  onFoldMark(box, px) {
    const v = this.view;
    const x = v.x + (px - this.width / 2) / v.k;
    return box !== null && box.kind !== "node" && v.k >= TEXT_LOD && x < box.x + FOLD_W;
  }

  /** From the canvas' corner. @param {MouseEvent} e @returns {[number, number]} */
  #place(e) {
    const r = this.canvas.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  }

  #listen() {
    const { canvas, stage } = this;
    /** @type {Box | null} what the first click of several was on: it may have gone elsewhere since */
    let first = null;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      this.drag = { x: e.clientX, y: e.clientY, moved: false };
      capture(canvas, e);
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      if (this.drag) this.#drag(e, this.drag);
      else this.#hover(e, this.hit(...this.#place(e)));
    });
    canvas.addEventListener("pointerup", () => {
      this.dragged = this.drag?.moved ?? false;
      this.drag = null;
    });
    canvas.addEventListener("pointercancel", () => {
      this.drag = null;
    });
    canvas.addEventListener("pointerleave", () => {
      if (this.hover < 0) return;
      this.hover = -1;
      this.#tell(null, null);
    });
    canvas.addEventListener("click", (/** @type {MouseEvent} */ e) => {
      if (this.dragged) return;
      const [x, y] = this.#place(e);
      const box = this.hit(x, y);
      const folded = this.onFoldMark(box, x) ? box : e.detail === 2 ? first : null;
      if (folded || e.detail <= 2) stage.camera.follow(this.index);
      if (folded?.group) stage.host.actions.toggle(folded.group);
      else if (e.detail < 2) {
        first = box;
        stage.host.hover(null, null, this.which);
        stage.host.pick(box);
      }
    });
    canvas.addEventListener("wheel", (/** @type {WheelEvent} */ e) => this.#wheel(e), {
      passive: false,
    });
  }

  /** What is under the pointer. @param {Box | null} box @param {MouseEvent | null} e */
  #tell(box, e) {
    this.stage.host.hover(box, e, this.which);
    this.stage.invalidate();
  }

  /** @param {PointerEvent} e @param {{x: number, y: number, moved: boolean}} from */
  #drag(e, from) {
    const dx = e.clientX - from.x,
      dy = e.clientY - from.y;
    if (!from.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    this.drag = { x: e.clientX, y: e.clientY, moved: true };
    this.canvas.style.cursor = "grabbing";
    this.#tell(null, null);
    this.stage.camera.pan(this.index, dx, dy);
    this.stage.moved();
  }

  /** @param {PointerEvent} e @param {Box | null} box under the pointer */
  #hover(e, box) {
    this.canvas.style.cursor = box ? "pointer" : "grab";
    const key = box?.key ?? -1;
    const folds = this.onFoldMark(box, this.#place(e)[0]);
    if (key === this.hover && folds === this.folds) return;
    this.hover = key;
    this.folds = folds;
    this.#tell(box, e);
  }

  /** @param {WheelEvent} e */
  #wheel(e) {
    e.preventDefault();
    const [x, y] = this.#place(e);
    const unit = e.deltaMode === 1 ? 16 : 1;
    const sideways = e.shiftKey && !e.deltaX;
    const [dx, dy] = sideways ? [e.deltaY, 0] : [e.deltaX, e.deltaY];
    const { camera } = this.stage;
    const [px, py] = [x - this.width / 2, y - this.height / 2];
    if (e.ctrlKey || e.metaKey) camera.zoom(this.index, zoomBy(e.deltaY * unit), px, py);
    else camera.pan(this.index, -dx * unit, -dy * unit);
    this.stage.moved();
  }
}

/** A pinch comes as many small deltas, a wheel's notch as one of a hundred. @param {number} delta */
const zoomBy = (delta) => Math.exp(Math.max(-NOTCH, Math.min(NOTCH, -delta * PINCH)));
