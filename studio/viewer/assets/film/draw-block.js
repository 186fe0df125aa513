// @ts-check
// A buffer as a block in a lane, the ring around the one that comes or goes; and what an arena
// holds and does not use, of the lazy one its free blocks.

import { drawText, slanted } from "../canvas/pen.js";
import { bytesText } from "../page/numbers.js";
import { NAIVE } from "./events.js";
import { shortName } from "./words.js";

/** @typedef {import("./draw-lanes.js").Hit} Hit */

const LEAST = 1.5; // pixels of a block, however small
const CAP = 4;
const LINE = 14;

/** Where a block is drawn. @param {LaneScene} s @param {number} lane @param {number} b */
function extent({ scale, events }, lane, b) {
  const from = events.offsets[lane][b];
  const x = scale.x(from);
  return { x, w: Math.max(LEAST, scale.x(from + events.size[b]) - x) };
}

/**
 * @param {LaneScene} s @param {number} lane @param {number} b
 * @param {{y: number, h: number, alpha: number}} at @param {Hit[]} hits
 */
export function block(s, lane, b, { y, h, alpha }, hits) {
  const { c, theme, events } = s;
  const { x, w } = extent(s, lane, b);
  const colours = theme.category(events.maker(b)?.[3] ?? "unknown");
  const gap = w > 4 ? 0.5 : 0;
  c.globalAlpha = alpha;
  c.fillStyle = theme.bg;
  c.fillRect(x, y, w, h);
  c.fillStyle = w < 5 ? colours.solid : colours.tint;
  c.fillRect(x + gap, y + 0.5, w - 2 * gap, h - 1);
  c.fillStyle = colours.solid;
  c.fillRect(x + gap, y + 0.5, w - 2 * gap, CAP);
  if (w >= 5) {
    c.strokeStyle = s.hover === b ? theme.primary : colours.edge;
    c.lineWidth = s.hover === b ? 2 : 1;
    c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  label(s, b, { x, y: y + CAP, w, h: h - CAP });
  c.globalAlpha = 1;
  hits.push({ buffer: b, x, y, w: Math.max(w, 3), h, lane });
}

/**
 * Who made it, where that is, how large it is: as many lines as there is room for.
 * @param {LaneScene} s @param {number} b @param {{x: number, y: number, w: number, h: number}} r
 */
function label(s, b, { x, y, w, h }) {
  const { c, theme, metrics, events } = s;
  if (w < 30 || h < 14) return;
  const rec = events.maker(b);
  const path = (rec?.[1] || rec?.[2] || events.json.buffers.name[b]).split("/").filter(Boolean);
  const name = path.pop() ?? "";
  const { tag, edge } = metrics.fonts;
  /** @type {[string, string, string][]} */
  const lines = [[metrics.fit(name, tag, w - 9), tag, theme.text]];
  const size = bytesText(events.size[b]);
  if (h >= 28 && metrics.width(size, edge) <= w - 8) lines.push([size, edge, theme.muted]);
  const scope = shortName(path.join("/"), 30);
  if (h >= 44 && scope && w > 54) lines.splice(1, 0, [fitEnd(s, scope, w - 9), edge, theme.muted]);
  const first = y + h / 2 - ((lines.length - 1) / 2) * LINE;
  lines.forEach(([text, font, colour], i) => {
    drawText(c, text, x + 5, first + i * LINE, { font, colour });
  });
}

/** Cut at the front: the end of a scope tells. @param {LaneScene} s @param {string} text @param {number} room */
function fitEnd({ metrics }, text, room) {
  let cut = text;
  while (cut.length > 2 && metrics.width(cut, metrics.fonts.edge) > room) cut = `…${cut.slice(2)}`;
  return cut;
}

/** The block that comes or goes. @param {LaneScene} s @param {number} lane @param {number} b @param {{y: number, h: number, alpha: number}} at */
export function ring(s, lane, b, { y, h, alpha }) {
  const { c, theme, events } = s;
  const { x, w } = extent(s, lane, b);
  c.globalAlpha = alpha;
  c.strokeStyle = theme.match;
  c.lineWidth = 2.5;
  if (!events.comes(s.moment.event)) c.setLineDash([5, 3]);
  c.strokeRect(x + 0.25, y + 1.25, Math.max(1, w - 0.5), h - 2.5);
  c.setLineDash([]);
  c.globalAlpha = 1;
}

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
