// @ts-check
// The bars of a film's scrubber. They are painted once; a frame only copies them and moves the
// cursor.

import { drawCursor, penOf, resize } from "../canvas/pen.js";

/** @typedef {import("./bar.js").FilmBar} FilmBar */

const TOP = 9;
const BASE = 6;
const AHEAD = 0.34;

/** @param {FilmBar} bar */
export function drawFilmBars(bar) {
  const { events, theme, player } = bar.panel;
  const { canvas } = bar;
  const w = canvas.clientWidth;
  const tall = canvas.clientHeight;
  if (!w || !theme) return;
  resize(canvas, w, tall);
  const c = penOf(canvas);
  c.clearRect(0, 0, w, tall);
  c.fillStyle = theme.border;
  c.fillRect(0, tall - BASE, w, 1);
  if (!events?.count) return;
  const { width: pw, height: ph } = canvas;
  const stamp = [events, w, pw, ph, bar.height, theme];
  const all = bar.painted.get("bars", stamp, () => paint(bar, w, tall));
  const x = (player.at / events.count) * w;
  const cut = Math.round((x / w) * pw);
  c.setTransform(1, 0, 0, 1, 0, 0);
  if (cut > 0) c.drawImage(all, 0, 0, cut, ph, 0, 0, cut, ph);
  c.globalAlpha = AHEAD;
  if (cut < pw) c.drawImage(all, cut, 0, pw - cut, ph, cut, 0, pw - cut, ph);
  c.globalAlpha = 1;
  penOf(canvas);
  if (bar.hover > 0) {
    c.fillStyle = theme.muted;
    c.fillRect((bar.hover / events.count) * w - 0.5, 2, 1, tall - 3);
  }
  drawCursor(c, Math.min(w - 1, Math.max(1, x)), tall, theme.primary);
}

/** @param {FilmBar} bar @param {number} w @param {number} tall */
function paint(bar, w, tall) {
  const events = /** @type {AllocatorEvents} */ (bar.panel.events);
  const theme = /** @type {Theme} */ (bar.panel.theme);
  const all = document.createElement("canvas");
  resize(all, w, tall);
  const c = penOf(all);
  const values = bar.height === "used" ? events.used : events.peak;
  const most = events.peak[events.count] || 1;
  const floor = tall - BASE;
  const wide = w / events.count;
  const each = Math.max(1, Math.ceil(1 / wide)); // events behind one pixel column
  const gap = wide > 4 ? 1 : wide > 2 ? 0.5 : 0;
  for (let i = 0; i < events.count; i += each) {
    let best = i;
    for (let j = i + 1; j < Math.min(events.count, i + each); j++)
      if (values[j + 1] > values[best + 1]) best = j;
    const high = Math.max(1, (values[best + 1] / most) * (floor - TOP));
    const rec = events.json.nodes[events.json.buffers.node[events.buffer[best]]];
    const colours = theme.category(rec?.[3] ?? "unknown");
    c.fillStyle = events.comes(best + 1) ? colours.solid : colours.edge;
    c.fillRect(i * wide, floor - high, Math.max(1, wide * each - gap), high);
  }
  return all;
}
