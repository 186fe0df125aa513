// @ts-check
// The whole graph below the tools, where it covers nothing: boxes, the viewport, a tick at every
// change. Narrow and tall, as graphs are: heights and widths have a scale each.

import { h } from "../page/dom.js";
import { draggable } from "./drag.js";
import { markColour, penOf } from "./pen.js";

/** @typedef {Map<number, BoxMark>} Marks */

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
    draggable(this.canvas, (e) => {
      const r = this.canvas.getBoundingClientRect();
      go((e.clientX - r.left - PAD) / this.scale, (e.clientY - r.top - PAD) / this.scaleY);
    });
  }

  /** @param {Pane} pane @param {View} view @param {Marks} marks @param {Theme} theme */
  draw(pane, view, marks, theme) {
    const p = pane.picture;
    if (!p) return;
    const seen = { w: pane.width / view.k, h: pane.height / view.k };
    const all = seen.w > p.width * 0.98 && seen.h > p.height * 0.98;
    const room = this.el.clientHeight - 2 * PAD;
    this.canvas.hidden = all || room < LEAST_ROOM;
    if (this.canvas.hidden) return;
    const tall = Math.round(Math.min(room, Math.max(SHORTEST, (p.height * WIDE) / p.width)));
    this.scale = WIDE / p.width;
    this.scaleY = tall / p.height;
    const [outerW, outerH] = [WIDE + TICKS + 2 * PAD, tall + 2 * PAD];
    const c = penOf(this.canvas, outerW, outerH, { fixed: true });
    c.clearRect(0, 0, outerW, outerH);
    c.translate(PAD, PAD);
    this.#boxes(c, p, theme);
    this.#ticks(c, p, marks, theme);
    c.strokeStyle = theme.primary;
    c.lineWidth = 1.5;
    const x0 = Math.max(-2, (view.x - seen.w / 2) * this.scale),
      y0 = Math.max(-2, (view.y - seen.h / 2) * this.scaleY);
    const x1 = Math.min(WIDE + 2, (view.x + seen.w / 2) * this.scale),
      y1 = Math.min(tall + 2, (view.y + seen.h / 2) * this.scaleY);
    c.strokeRect(x0, y0, Math.max(4, x1 - x0), Math.max(4, y1 - y0));
  }

  /** @param {CanvasRenderingContext2D} c @param {Picture} p @param {Theme} theme */
  #boxes(c, p, theme) {
    for (const b of p.boxes) {
      if (b.kind === "open") continue;
      c.fillStyle = b.kind === "closed" ? theme.faint : theme.category(b.rec?.cat ?? "").edge;
      const [w, h] = [Math.max(1.5, b.w * this.scale), Math.max(1, b.h * this.scaleY)];
      c.fillRect(b.x * this.scale, b.y * this.scaleY, w, h);
    }
  }

  /** @param {CanvasRenderingContext2D} c @param {Picture} p @param {Marks} marks @param {Theme} theme */
  #ticks(c, p, marks, theme) {
    for (const b of p.boxes) {
      const mark = marks.get(b.key);
      const loud = mark?.now;
      if (b.kind === "open" || (!mark?.mark && !mark?.plus && !mark?.minus)) continue;
      c.fillStyle = loud ? theme.match : mark.mark ? markColour(theme, mark.mark) : theme.faint;
      const [y, h] = [b.y * this.scaleY, b.h * this.scaleY];
      if (loud) c.fillRect(WIDE + 2, y - 1, TICKS, Math.max(3, h));
      else c.fillRect(WIDE + 2, y, 5, Math.max(1, h));
    }
  }
}
