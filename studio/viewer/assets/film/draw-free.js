// @ts-check
// What an arena holds and does not use; of the lazy one, its free blocks.

import { drawText, slanted } from "../canvas/pen.js";
import { bytesText } from "../page/numbers.js";
import { NAIVE } from "./events.js";

/** Held and unused. @param {LaneScene} s @param {{x: number, y: number, w: number, h: number}} r */
export function hatch(s, { x, y, w, h }) {
  if (w < 0.5) return;
  const { c, theme } = s;
  c.save();
  c.beginPath();
  c.rect(x, y, w, h);
  c.clip();
  c.fillStyle = theme.panel;
  c.fillRect(x, y, w, h);
  slanted(c, { x, y, w, h }, theme.border, x - h - ((x - h) % 7), 7);
  c.restore();
}

/** What naive keeps though nobody needs it. @param {LaneScene} s @param {{y: number, h: number}} at */
export function deadBlocks(s, { y, h }) {
  const { c, theme, scale, events, replay } = s;
  c.globalAlpha = 0.45;
  for (let b = 0; b < events.size.length; b++) {
    if (events.died[b] > replay.at) continue;
    const x = scale.x(events.offsets[NAIVE][b]);
    const w = scale.x(events.offsets[NAIVE][b] + events.size[b]) - x;
    if (w < 2) continue;
    c.strokeStyle = theme.category(events.maker(b)?.[3] ?? "unknown").edge;
    c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  c.globalAlpha = 1;
}

/** Free blocks of the lazy allocator, as its list has them. @param {LaneScene} s @param {{y: number, h: number}} at */
export function freeBlocks(s, at) {
  const { events, replay } = s;
  const { event, t } = s.moment;
  const removed = event > 0 ? events.removed(event) : [];
  const added = event > 0 ? events.added(event) : [];
  const changing = new Set([...removed, ...added].map((f) => f.offset));
  for (const [offset, size] of replay.free)
    if (!changing.has(offset)) freeBlock(s, { offset, size }, at, { alpha: 1, now: false });
  for (const f of removed) if (t < 1) freeBlock(s, f, at, { alpha: 1 - t, now: false });
  for (const f of added) freeBlock(s, f, at, { alpha: t, now: true });
}

/**
 * @param {LaneScene} s @param {import("./events.js").Free} f @param {{y: number, h: number}} at
 * @param {{alpha: number, now: boolean}} style
 */
function freeBlock({ c, theme, metrics, scale }, f, { y, h }, { alpha, now }) {
  const x = scale.x(f.offset);
  const w = scale.x(f.offset + f.size) - x;
  c.globalAlpha = alpha;
  c.strokeStyle = now ? theme.match : theme.faint;
  c.lineWidth = now ? 2 : 1;
  c.setLineDash(now ? [] : [3, 3]);
  c.strokeRect(x + 1, y + 1, Math.max(1, w - 2), h - 2);
  c.setLineDash([]);
  const font = metrics.fonts.edge;
  const text = `free ${bytesText(f.size)}`;
  const wide = w < 52 ? Infinity : metrics.width(text, font);
  if (wide <= w - 10) {
    c.fillStyle = theme.panel;
    c.fillRect(x + w / 2 - wide / 2 - 3, y + h / 2 - 7, wide + 6, 14);
    const style = { font, colour: theme.muted };
    drawText(c, text, x + w / 2, y + h / 2 + 0.5, { ...style, align: "center" });
  }
  c.globalAlpha = 1;
}
