// @ts-check
// One canvas with its pointer: hit test, hover, pan, zoom, and the animation between two pictures.

import { ease } from "./camera.js";
import { capture } from "./drag.js";
import { TEXT_LOD } from "./detail.js";
import { drawPane } from "./draw.js";
import { FOLD_W, TITLE_H } from "../layout/metrics.js";
import { resize } from "./pen.js";
import { boxBetween, wiresBetween } from "./motion.js";

const MOST_ANIMATED = 2500;
const PINCH = 0.01; // zoom, in powers of e, per pixel
const NOTCH = 0.3; // at most, per event

/**
 * @typedef {object} PaneHost what a pane asks of the viewer
 * @property {(pane: Pane, dx: number, dy: number) => void} onPan
 * @property {(pane: Pane, factor: number, px: number, py: number) => void} onZoom
 * @property {(pane: Pane, box: Box | null, event: MouseEvent) => void} onClick
 * @property {(pane: Pane, box: Box | null) => void} onFold a group should open or close
 * @property {(pane: Pane, box: Box | null, event: MouseEvent | null) => void} onHover
 * @property {(pane: Pane) => View} viewOf
 */

export class Pane {
  /** @param {HTMLCanvasElement} canvas @param {PaneHost} host */
  constructor(canvas, host) {
    this.canvas = canvas;
    this.host = host;
    this.c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
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

  /** @returns {boolean} whether the size changed */
  resize() {
    const cell = /** @type {HTMLElement} */ (this.canvas.parentElement);
    const head = /** @type {HTMLElement | null} */ (cell.firstElementChild)?.offsetHeight ?? 0;
    this.width = Math.max(1, Math.floor(cell.clientWidth));
    this.height = Math.max(1, Math.floor(cell.clientHeight - head));
    this.dpr = window.devicePixelRatio || 1;
    return resize(this.canvas, this.width, this.height, { fixed: true });
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
      view: this.host.viewOf(this),
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
    const v = this.host.viewOf(this);
    const x = v.x + (px - this.width / 2) / v.k;
    const y = v.y + (py - this.height / 2) / v.k;
    for (let i = this.picture.boxes.length - 1; i >= 0; i--) {
      const b = this.picture.boxes[i];
      if (x < b.x || x > b.x + b.w || y < b.y || y > b.y + b.h) continue;
      if (b.kind !== "open" || y < b.y + TITLE_H) return b;
    }
    return null;
  }

  /** Is a point on the fold mark of a group? @param {Box | null} box @param {number} px */
  onFoldMark(box, px) {
    const v = this.host.viewOf(this);
    const x = v.x + (px - this.width / 2) / v.k;
    return box !== null && box.kind !== "node" && v.k >= TEXT_LOD && x < box.x + FOLD_W;
  }

  /** From the canvas' corner. @param {MouseEvent} e @returns {[number, number]} */
  #place(e) {
    const r = this.canvas.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  }

  #listen() {
    const { canvas, host } = this;
    /** @type {Box | null} what the first click of several was on: it may have gone elsewhere since */
    let first = null;
    canvas.addEventListener("pointerdown", (e) => {
      this.drag = { x: e.clientX, y: e.clientY, moved: false };
      capture(canvas, e);
    });
    canvas.addEventListener("pointermove", (e) => {
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
      host.onHover(this, null, null);
    });
    canvas.addEventListener("click", (e) => {
      if (this.dragged) return;
      const [x, y] = this.#place(e);
      const box = this.hit(x, y);
      if (this.onFoldMark(box, x)) host.onFold(this, box);
      else if (e.detail === 2) host.onFold(this, first);
      else if (e.detail < 2) {
        first = box;
        host.onClick(this, box, e);
      }
    });
    canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
  }

  /** @param {PointerEvent} e @param {{x: number, y: number, moved: boolean}} from */
  #drag(e, from) {
    const dx = e.clientX - from.x,
      dy = e.clientY - from.y;
    if (!from.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    this.drag = { x: e.clientX, y: e.clientY, moved: true };
    this.canvas.style.cursor = "grabbing";
    this.host.onHover(this, null, null);
    this.host.onPan(this, dx, dy);
  }

  /** @param {PointerEvent} e @param {Box | null} box under the pointer */
  #hover(e, box) {
    this.canvas.style.cursor = box ? "pointer" : "grab";
    const key = box?.key ?? -1;
    const folds = this.onFoldMark(box, this.#place(e)[0]);
    if (key === this.hover && folds === this.folds) return;
    this.hover = key;
    this.folds = folds;
    this.host.onHover(this, box, e);
  }

  /** @param {WheelEvent} e */
  #wheel(e) {
    e.preventDefault();
    const [x, y] = this.#place(e);
    const unit = e.deltaMode === 1 ? 16 : 1;
    const sideways = e.shiftKey && !e.deltaX;
    const [dx, dy] = sideways ? [e.deltaY, 0] : [e.deltaX, e.deltaY];
    if (e.ctrlKey || e.metaKey)
      this.host.onZoom(this, zoomBy(e.deltaY * unit), x - this.width / 2, y - this.height / 2);
    else this.host.onPan(this, -dx * unit, -dy * unit);
  }
}

/** A pinch comes as many small deltas, a wheel's notch as one of a hundred. @param {number} delta */
const zoomBy = (delta) => Math.exp(Math.max(-NOTCH, Math.min(NOTCH, -delta * PINCH)));
