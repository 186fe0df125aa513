// @ts-check
// A buffer as a block in a lane, and the ring around the one that comes or goes.

import { drawText } from "../canvas/pen.js";
import { bytesText } from "../page/numbers.js";
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
