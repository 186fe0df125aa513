// @ts-check
// How a node looks, and the marks around it.

import { drawGlyph } from "./glyphs.js";
import { CAP, NODE_H, rowText } from "../layout/metrics.js";
import { markColour, TEXT_LOD } from "./detail.js";

/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {import("./draw.js").BoxMark} BoxMark */
/** @typedef {import("../layout/placement.js").Box} Box */
/** @typedef {{x: number, y: number, w: number, h: number, alpha: number}} Place */

export const RADIUS = 6;
/** @type {Map<import("./draw.js").Mark, string>} in the corner; never by colour alone */
const SIGNS = new Map([
  ["added", "+"],
  ["changed", "~"],
  ["removed", "−"],
  ["vetoed", "×"],
  ["declined", "!"],
  ["first", "A"],
  ["second", "B"],
]);
/** @type {Map<import("./draw.js").Mark, number[]>} */
const DASHES = new Map([
  ["removed", [5, 3]],
  ["declined", [2, 3]],
]);

/** @param {Scene} s @param {Box} b @param {Place} p @param {BoxMark} [given] */
export function drawBox(s, b, p, given) {
  const { c, theme } = s;
  const rec = /** @type {import("../types.js").NodeRecord} */ (b.rec);
  const mark = given ?? s.marks.get(b.key);
  const colours = theme.category(rec.cat);
  const outline = rec.cat === "io";
  const alpha = c.globalAlpha;
  if (mark?.mark === "matched" || mark?.now) halo(s, p, markColour(theme, mark.mark));
  if (mark?.faded && !s.shading) c.globalAlpha = alpha * 0.5;
  c.beginPath();
  c.roundRect(p.x, p.y, p.w, p.h, outline ? 12 : RADIUS);
  const value = s.shading?.value(b) ?? null;
  const shade = s.shading && value ? s.shading.colour(value.share) : null;
  c.fillStyle = shade?.tint ?? (outline || s.shading ? theme.bg : colours.tint);
  c.fill();
  if (rec.cat === "unknown") hatch(s, p);
  c.strokeStyle = shade?.edge ?? (s.shading ? theme.border : colours.edge);
  c.lineWidth = 1;
  if (mark?.mark === "removed") c.setLineDash([4, 3]);
  c.stroke();
  c.setLineDash([]);
  if (!outline) cap(s, p, colours.solid);
  drawGlyph(
    c,
    rec.cat,
    p.x + CAP / 2 + (outline ? 2 : 0),
    p.y + p.h / 2,
    outline ? theme.muted : "#fff",
  );
  if (s.view.k >= TEXT_LOD) texts(s, b, p);
  if (s.shading && value && s.view.k >= TEXT_LOD) valueTag(s, p, s.shading.label(value));
  c.globalAlpha = alpha;
  if (mark?.mark) ring(s, p, mark);
  if (s.selected.has(b.key) || s.hover === b.key) focusRing(s, p, s.selected.has(b.key));
}

/** @param {Scene} s @param {Place} p @param {string} colour */
function cap(s, p, colour) {
  s.c.beginPath();
  s.c.roundRect(p.x, p.y, CAP, p.h, [RADIUS, 0, 0, RADIUS]);
  s.c.fillStyle = colour;
  s.c.fill();
}

/** @param {Scene} s @param {Place} p */
function hatch(s, p) {
  const { c } = s;
  c.save();
  c.clip();
  c.strokeStyle = s.theme.border;
  c.lineWidth = 1;
  c.beginPath();
  for (let x = p.x - p.h; x < p.x + p.w; x += 6) {
    c.moveTo(x, p.y + p.h);
    c.lineTo(x + p.h, p.y);
  }
  c.stroke();
  c.restore();
  c.beginPath();
  c.roundRect(p.x, p.y, p.w, p.h, RADIUS);
}

/**
 * The number of an overlay, beside the box: inside it would take the room of the name.
 * @param {Scene} s @param {Place} p @param {string} label
 */
function valueTag(s, p, label) {
  const { c, theme, metrics } = s;
  const y = p.y + NODE_H / 2 + 0.5;
  const x = p.x + p.w + 7;
  c.fillStyle = theme.patch;
  c.beginPath();
  c.roundRect(x - 3, y - 7, metrics.width(label, metrics.fonts.tag) + 6, 14, 3);
  c.fill();
  c.font = metrics.fonts.tag;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillStyle = theme.text;
  c.fillText(label, x, y);
}

/** @param {Scene} s @param {Box} b @param {Place} p */
function texts(s, b, p) {
  const { c, theme, metrics } = s;
  const rec = /** @type {import("../types.js").NodeRecord} */ (b.rec);
  const left = p.x + CAP + 7;
  const room = p.w - CAP - 14;
  c.textAlign = "left";
  c.textBaseline = "middle";
  const y = p.y + NODE_H / 2 + 0.5;
  const op = metrics.fit(rec.op, metrics.fonts.op, room);
  c.font = metrics.fonts.op;
  c.fillStyle = theme.text;
  c.fillText(op, left, y);
  const used = metrics.width(op, metrics.fonts.op) + 6;
  if (rec.brief && room - used > 12) {
    c.font = metrics.fonts.brief;
    c.fillStyle = theme.muted;
    c.fillText(metrics.fit(rec.brief, metrics.fonts.brief, room - used), left + used, y);
  }
  if (rec.rows?.length && p.h > NODE_H + 4) {
    c.font = metrics.fonts.row;
    c.fillStyle = theme.muted;
    c.fillText(metrics.fit(rowText(rec), metrics.fonts.row, room), left, p.y + NODE_H + 3);
  }
}

/** @param {Scene} s @param {Place} p @param {string} colour */
export function halo(s, p, colour) {
  const { c } = s;
  const alpha = c.globalAlpha;
  c.strokeStyle = colour;
  for (const [grow, a] of [
    [7, 0.16],
    [4, 0.3],
  ]) {
    c.globalAlpha = alpha * a;
    c.lineWidth = grow * 2;
    c.beginPath();
    c.roundRect(p.x, p.y, p.w, p.h, RADIUS);
    c.stroke();
  }
  c.globalAlpha = alpha;
}

/**
 * The ring of what a rewrite did, with its sign in a corner.
 * @param {Scene} s
 * @param {Place} p
 * @param {BoxMark} mark
 */
export function ring(s, p, mark) {
  const { c, theme } = s;
  const colour = markColour(theme, mark.mark);
  c.strokeStyle = colour;
  c.lineWidth = mark.now ? 2.25 : 1.25;
  c.setLineDash(DASHES.get(mark.mark ?? "matched") ?? []);
  c.beginPath();
  c.roundRect(p.x - 1.5, p.y - 1.5, p.w + 3, p.h + 3, RADIUS + 1.5);
  c.stroke();
  c.setLineDash([]);
  const sign = SIGNS.get(mark.mark ?? "matched");
  if (!sign || (!mark.now && s.view.k < 0.6)) return;
  disc(s, p.x + p.w, p.y, colour, sign, mark.now ? 7.5 : 6);
}

/**
 * @param {Scene} s
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 * @param {string} sign
 * @param {number} r
 */
function disc(s, x, y, colour, sign, r) {
  const { c } = s;
  c.beginPath();
  c.arc(x, y, r, 0, 7);
  c.fillStyle = colour;
  c.fill();
  c.fillStyle = s.theme.bg;
  c.font = s.metrics.fonts.mark;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(sign, x, y + 0.5);
}

/** @param {Scene} s @param {Place} p @param {boolean} strong */
export function focusRing(s, p, strong) {
  const { c } = s;
  c.strokeStyle = s.theme.primary;
  c.lineWidth = strong ? 2.5 : 1.25;
  c.beginPath();
  c.roundRect(p.x - 3, p.y - 3, p.w + 6, p.h + 6, RADIUS + 3);
  c.stroke();
}
