// @ts-check
// The whole graph below the tools, where it covers nothing: boxes, the viewport, a tick at every
// change. Narrow and tall, as graphs are: heights and widths have a scale each.

import { h } from "../page/dom.js";
import { markColour } from "./detail.js";

const WIDE = 22; // of the boxes
const TICKS = 9; // of the column of ticks beside them
const PAD = 3;
const SHORTEST = 120;
const LEAST_ROOM = 60; // below, there is no map

export class Minimap {
  /** @param {(x: number, y: number) => void} go */
  constructor(go) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.canvas.hidden = true; // until there is a graph: a bare canvas is 300 px wide
    this.el = h(
      "div.pl-minimap",
      { title: "The whole graph: click or drag to go there" },
      this.canvas,
    );
    this.scale = 1;
    this.scaleY = 1;
    const jump = (/** @type {PointerEvent} */ e) => {
      const r = this.canvas.getBoundingClientRect();
      go((e.clientX - r.left - PAD) / this.scale, (e.clientY - r.top - PAD) / this.scaleY);
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
   * @param {import("./pane.js").Pane} pane
   * @param {import("./camera.js").View} view
   * @param {Map<number, import("./draw.js").BoxMark>} marks
   * @param {import("../page/theme.js").Theme} theme
   */
  draw(pane, view, marks, theme) {
    const p = pane.picture;
    if (!p) return;
    const seenW = pane.width / view.k,
      seenH = pane.height / view.k;
    const all = seenW > p.width * 0.98 && seenH > p.height * 0.98;
    const room = this.el.clientHeight - 2 * PAD;
    this.canvas.hidden = all || room < LEAST_ROOM;
    if (this.canvas.hidden) return;
    const w = WIDE;
    const tall = Math.min(room, Math.max(SHORTEST, (p.height * WIDE) / p.width));
    this.scale = w / p.width;
    this.scaleY = tall / p.height;
    const dpr = window.devicePixelRatio || 1;
    const [outerW, outerH] = [w + TICKS + 2 * PAD, tall + 2 * PAD];
    this.canvas.width = outerW * dpr;
    this.canvas.height = outerH * dpr;
    this.canvas.style.width = `${outerW}px`;
    this.canvas.style.height = `${outerH}px`;
    const c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    c.setTransform(dpr, 0, 0, dpr, PAD * dpr, PAD * dpr);
    c.clearRect(-PAD, -PAD, outerW, outerH);
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
        w + 2,
        b.y * this.scaleY - (loud ? 1 : 0),
        loud ? TICKS : 5,
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
