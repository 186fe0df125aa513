// @ts-check
// The strip of the scrubber: bars, those that touch what is selected, hand-overs between passes,
// the cursor.

import { drawCursor, path } from "../canvas/pen.js";
import { BASE, TOP } from "./play-bar.js";

/** @typedef {import("./scrubber.js").Scrubber} Scrubber */
/** @typedef {import("./bars.js").Bar} Bar */
/** @typedef {{c: CanvasRenderingContext2D, theme: Theme, w: number, h: number, floor: number}} Pen */

const LOW = 2.5; // a step that saves nothing
const LEAST = 4; // one that saves a little
const LEAST_LIT = 9;
const CUT = 2; // gap in a bar that is cut off
const TO_COME = 0.38;
const ASIDE = [0.3, 0.16]; // done and to come, while others are lit

/** @param {Scrubber} strip */
export function drawStrip(strip) {
  const { session: s, theme } = strip.state;
  const { width: w, height: h } = strip.bar.canvas.getBoundingClientRect();
  if (!w || !theme) return;
  const pen = { c: strip.bar.begin(theme, w, h), theme, w, h, floor: h - BASE };
  if (!s?.steps.length) return;
  drawBars(strip, pen, s.step);
  handovers(strip, pen);
  if (strip.span.zoomed) drawPart(strip, pen);
  cursor(strip, pen, s.step);
}

/** @param {Scrubber} strip @param {Pen} pen @param {number} step */
const placeOf = ({ span }, pen, step) => ((step - span.from) / span.length) * pen.w;

/** @param {Scrubber} strip @param {Pen} pen @param {number} step */
function cursor(strip, pen, step) {
  const { c, theme, w, h } = pen;
  const place = placeOf(strip, pen, step);
  if (place < -1 || place > w + 1) return;
  drawCursor(c, Math.min(w - 1, Math.max(1, place)), h, theme.primary);
}

/** @param {Scrubber} strip @param {Pen} pen @param {number} at */
function drawBars(strip, pen, at) {
  const { c, w } = pen;
  const { bars, scale } = strip.bars;
  const lit = strip.state.selection?.steps ?? [];
  const wide = w / strip.span.length;
  const gap = wide * strip.each > 4 ? 1 : wide * strip.each > 2 ? 0.5 : 0;
  let next = 0; // place in lit
  for (const bar of bars) {
    while (next < lit.length && lit[next] <= bar.from) next++;
    const x = placeOf(strip, pen, bar.from);
    const width = Math.max(1, wide * (bar.to - bar.from) - gap);
    if (x + width < 0 || x > w) continue;
    const isLit = next < lit.length && lit[next] <= bar.to;
    const here = bar.from < at && at <= bar.to;
    const hovered = bar.from < strip.bar.hover && strip.bar.hover <= bar.to;
    const [done, toCome] = lit.length ? ASIDE : [1, TO_COME];
    c.globalAlpha = isLit || here || hovered ? 1 : bar.to <= at ? done : toCome;
    drawBar(strip, pen, bar, { x, width: Math.min(width, 40), ...scale(bar.saving), isLit });
    c.globalAlpha = 1;
    if (isLit) mark(pen, x + Math.min(width, 40) / 2);
  }
}

/**
 * @param {Scrubber} strip @param {Pen} pen @param {Bar} bar
 * @param {{x: number, width: number, share: number, cut: boolean, isLit: boolean}} look
 */
function drawBar(strip, { c, theme, floor }, bar, { x, width, share, cut, isLit }) {
  const passes = strip.state.session?.trace?.passes ?? [];
  const colour = (/** @type {number} */ pass) => theme.family(passes[pass]?.family ?? "");
  const least = isLit ? LEAST_LIT : bar.saving ? LEAST : LOW;
  const tall = Math.max(least, share * (floor - TOP));
  if (bar.saving < 0) {
    c.strokeStyle = colour(bar.parts[0][0]);
    c.lineWidth = 1;
    c.strokeRect(x + 0.5, floor - tall + 0.5, Math.max(1, width - 1), tall - 1);
  } else {
    const sum = bar.parts.reduce((total, [, saved]) => total + saved, 0);
    let y = floor;
    for (const [pass, saved] of bar.parts) {
      const part = tall * (sum ? saved / sum : 1 / bar.parts.length);
      c.fillStyle = colour(pass);
      c.fillRect(x, y - part, width, part);
      y -= part;
    }
  }
  if (!cut) return;
  c.clearRect(x - 0.5, floor - tall + 6, width + 1, CUT);
}

/** Over a bar that touches what is selected; colour alone would not do. @param {Pen} pen @param {number} x */
function mark({ c, theme }, x) {
  c.fillStyle = theme.primary;
  path(c, x - 3.5, 0.5, x + 3.5, 0.5, x, 6.5);
  c.fill();
}

/** Which part of all steps this is. @param {Scrubber} strip @param {Pen} pen */
function drawPart({ span }, { c, theme, w, h }) {
  c.fillStyle = theme.border;
  c.fillRect(0, h - 3, w, 3);
  c.fillStyle = theme.muted;
  const width = Math.max(12, (span.length / span.count) * w);
  c.fillRect((span.from / Math.max(1, span.count - span.length)) * (w - width), h - 3, width, 3);
}

/**
 * Where a pass hands over to the next, and thin ticks for passes that found nothing there.
 * @param {Scrubber} strip @param {Pen} pen
 */
function handovers(strip, pen) {
  const { session: s } = strip.state;
  const { c, theme, w, h: tall, floor } = pen;
  if (!s?.trace) return;
  const wide = w / strip.span.length;
  const enabled = new Set(strip.state.data?.pipeline?.enabled ?? []);
  let last = -9;
  c.fillStyle = theme.faint;
  for (let i = Math.floor(strip.span.from); i < Math.min(s.steps.length, strip.span.to); i++) {
    const before = s.steps[i - 1],
      now = s.steps[i];
    if (before && before.pass === now.pass) continue;
    const x = placeOf(strip, pen, i);
    if (i && x - last > 5) {
      c.fillRect(x - 0.5, floor, 1, tall - floor);
      last = x;
    }
    const from = before && before.pass < now.pass ? before.pass + 1 : 0;
    let ticks = 0;
    for (let p = from; p < now.pass; p++)
      if (!s.trace.passes[p].fired && enabled.has(s.trace.passes[p].id)) ticks++;
    for (let t = 0; t < Math.min(ticks, 6) && wide > 2; t++)
      c.fillRect(x + 1 + t * 3, floor + 2, 1, 3);
  }
}
