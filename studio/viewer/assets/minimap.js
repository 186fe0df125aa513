// @ts-check
// The whole graph in a corner: boxes, the viewport, a tick at every change.

import { h } from "./dom.js";
import { markColour } from "./detail.js";

const MAX_W = 120;
const MAX_H = 190;
const PART_W = 0.14; // of the pane at most: it lies over the graph
const PART_H = 0.2;

export class Minimap {
  /** @param {(x: number, y: number) => void} go */
  constructor(go) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.el = h("div.pl-minimap", null, this.canvas);
    this.scale = 1;
    this.scaleY = 1;
    const jump = (/** @type {PointerEvent} */ e) => {
      const r = this.canvas.getBoundingClientRect();
      go((e.clientX - r.left - 4) / this.scale, (e.clientY - r.top - 4) / this.scaleY);
    };
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      jump(e);
      const stop = () => {
        window.removeEventListener("pointermove", jump);
        window.removeEventListener("pointerup", stop);
      };
      window.addEventListener("pointermove", jump);
      window.addEventListener("pointerup", stop);
    });
  }

  /**
   * @param {import("./session.js").Session} s
   * @param {import("./pane.js").Pane} pane
   * @param {import("./camera.js").View} view
   * @param {Map<number, import("./draw.js").BoxMark>} marks
   * @param {import("./theme.js").Theme} theme
   */
  draw(s, pane, view, marks, theme) {
    const p = pane.picture;
    if (!p) return;
    const seenW = pane.width / view.k,
      seenH = pane.height / view.k;
    const all = seenW > p.width * 0.98 && seenH > p.height * 0.98;
    this.el.hidden = all || pane.height < 260;
    if (this.el.hidden) return;
    const k = Math.min(
      Math.min(MAX_W, pane.width * PART_W) / p.width,
      Math.min(MAX_H, pane.height * PART_H) / p.height,
    );
    const w = Math.max(28, p.width * k),
      tall = Math.max(28, p.height * k);
    this.scale = w / p.width;
    this.scaleY = tall / p.height;
    const dpr = window.devicePixelRatio || 1;
    this.canvas.width = (w + 18) * dpr;
    this.canvas.height = (tall + 8) * dpr;
    this.canvas.style.width = `${w + 18}px`;
    this.canvas.style.height = `${tall + 8}px`;
    const c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    c.setTransform(dpr, 0, 0, dpr, 4 * dpr, 4 * dpr);
    c.clearRect(-4, -4, w + 18, tall + 8);
    for (const b of p.boxes) {
      if (b.kind === "open") continue;
      c.fillStyle = b.kind === "closed" ? theme.faint : theme.category(b.rec?.cat ?? "").edge;
      c.fillRect(
        b.x * this.scale,
        b.y * this.scaleY,
        Math.max(1.5, b.w * this.scale),
        Math.max(1, b.h * this.scaleY),
      );
    }
    for (const b of p.boxes) {
      const mark = marks.get(b.key);
      const loud = mark?.now;
      if (b.kind === "open" || (!mark?.mark && !mark?.plus && !mark?.minus)) continue;
      c.fillStyle = loud ? theme.match : mark.mark ? markColour(theme, mark.mark) : theme.faint;
      c.fillRect(
        w + 3,
        b.y * this.scaleY - (loud ? 1 : 0),
        loud ? 9 : 5,
        Math.max(loud ? 3 : 1, b.h * this.scaleY),
      );
    }
    c.strokeStyle = theme.primary;
    c.lineWidth = 1.5;
    const x0 = Math.max(-2, (view.x - seenW / 2) * this.scale),
      y0 = Math.max(-2, (view.y - seenH / 2) * this.scaleY);
    const x1 = Math.min(w + 2, (view.x + seenW / 2) * this.scale),
      y1 = Math.min(tall + 2, (view.y + seenH / 2) * this.scaleY);
    c.strokeRect(x0, y0, Math.max(4, x1 - x0), Math.max(4, y1 - y0));
  }
}
