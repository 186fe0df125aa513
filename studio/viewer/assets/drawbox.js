// @ts-check
// How a node, a closed group and an open group look.

import { drawGlyph } from "./glyphs.js";
import { CAP, NODE_H, rowText, shortGroup, TITLE_H } from "./metrics.js";
import { markColour, TEXT_LOD } from "./draw.js";

/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {import("./draw.js").BoxMark} BoxMark */
/** @typedef {import("./place.js").Box} Box */
/** @typedef {{x: number, y: number, w: number, h: number, alpha: number}} Place */

const RADIUS = 6;

/** @param {Scene} s @param {Box} b @param {Place} p @param {BoxMark} [given] */
export function drawBox(s, b, p, given) {
  const { c, theme } = s;
  const rec = /** @type {import("./types.js").NodeRecord} */ (b.rec);
  const mark = given ?? s.marks.get(b.key);
  const colours = theme.category(rec.cat);
  const outline = rec.cat === "io";
  const alpha = c.globalAlpha;
  if (mark?.mark === "matched" || mark?.now) halo(s, p, markColour(theme, mark.mark));
  if (mark?.faded) c.globalAlpha = alpha * 0.5;
  c.beginPath();
  c.roundRect(p.x, p.y, p.w, p.h, outline ? 12 : RADIUS);
  c.fillStyle = outline ? theme.bg : colours.tint;
  c.fill();
  if (rec.cat === "unknown") hatch(s, p);
  c.strokeStyle = colours.edge;
  c.lineWidth = 1;
  if (mark?.mark === "removed") c.setLineDash([4, 3]);
  c.stroke();
  c.setLineDash([]);
  if (!outline) cap(s, p, colours.solid);
  drawGlyph(c, rec.cat, p.x + CAP / 2 + (outline ? 2 : 0), p.y + p.h / 2, outline ? theme.muted : "#fff");
  if (s.view.k >= TEXT_LOD) texts(s, b, p);
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
  for (let x = p.x - p.h; x < p.x + p.w; x += 6) { c.moveTo(x, p.y + p.h); c.lineTo(x + p.h, p.y); }
  c.stroke();
  c.restore();
  c.beginPath();
  c.roundRect(p.x, p.y, p.w, p.h, RADIUS);
}

/** @param {Scene} s @param {Box} b @param {Place} p */
function texts(s, b, p) {
  const { c, theme, metrics } = s;
  const rec = /** @type {import("./types.js").NodeRecord} */ (b.rec);
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
function halo(s, p, colour) {
  const { c } = s;
  const alpha = c.globalAlpha;
  c.strokeStyle = colour;
  for (const [grow, a] of [[7, 0.16], [4, 0.3]]) {
    c.globalAlpha = alpha * a;
    c.lineWidth = grow * 2;
    c.beginPath();
    c.roundRect(p.x, p.y, p.w, p.h, RADIUS);
    c.stroke();
  }
  c.globalAlpha = alpha;
}

/** The ring of what a rewrite did, with its sign in a corner. @param {Scene} s @param {Place} p @param {BoxMark} mark */
function ring(s, p, mark) {
  const { c, theme } = s;
  const colour = markColour(theme, mark.mark);
  c.strokeStyle = colour;
  c.lineWidth = mark.now ? 2.25 : 1.25;
  if (mark.mark === "removed") c.setLineDash([5, 3]);
  c.beginPath();
  c.roundRect(p.x - 1.5, p.y - 1.5, p.w + 3, p.h + 3, RADIUS + 1.5);
  c.stroke();
  c.setLineDash([]);
  const sign = mark.mark === "added" ? "+" : mark.mark === "changed" ? "~" : mark.mark === "removed" ? "−" : "";
  if (!sign || (!mark.now && s.view.k < 0.6)) return;
  disc(s, p.x + p.w, p.y, colour, sign, mark.now ? 7.5 : 6);
}

/** @param {Scene} s @param {number} x @param {number} y @param {string} colour @param {string} sign @param {number} r */
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
function focusRing(s, p, strong) {
  const { c } = s;
  c.strokeStyle = s.theme.primary;
  c.lineWidth = strong ? 2.5 : 1.25;
  c.beginPath();
  c.roundRect(p.x - 3, p.y - 3, p.w + 6, p.h + 6, RADIUS + 3);
  c.stroke();
}

/** A closed group: a small stack with its name, how many nodes, and what changed inside. @param {Scene} s @param {Box} b @param {Place} p */
export function drawClosed(s, b, p) {
  const { c, theme, metrics } = s;
  const g = /** @type {import("./fold.js").Group} */ (b.group);
  const mark = s.marks.get(b.key);
  if (mark?.now) halo(s, p, markColour(theme, mark.mark));
  for (const d of [5, 2.5, 0]) {
    c.beginPath();
    c.roundRect(p.x + d, p.y - d, p.w - (d ? 2 * d : 0), p.h, RADIUS);
    c.fillStyle = theme.panel;
    c.fill();
    c.strokeStyle = theme.faint;
    c.lineWidth = 1;
    c.stroke();
  }
  if (s.view.k >= TEXT_LOD) {
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillStyle = theme.muted;
    chevron(c, p.x + 13, p.y + 14, false);
    c.font = metrics.fonts.group;
    c.fillStyle = theme.text;
    const badge = badgeWidth(s, mark);
    c.fillText(metrics.fit(shortGroup(g.name), metrics.fonts.group, p.w - 34 - badge), p.x + 24, p.y + 14);
    c.font = metrics.fonts.count;
    c.fillStyle = theme.muted;
    c.fillText(`${countText(s, b)}${g.repeat ? `   ×${g.repeat}` : ""}`, p.x + 24, p.y + 30);
    if (badge) drawBadge(s, mark, p.x + p.w - 8, p.y + 14);
  }
  if (mark?.mark && mark.now) ring(s, p, { ...mark, mark: mark.mark });
  if (s.selected.has(b.key) || s.hover === b.key) focusRing(s, p, s.selected.has(b.key));
}

/** @param {Scene} s @param {Box} b */
function countText(s, b) {
  const n = s.counts[/** @type {import("./fold.js").Group} */ (b.group).at];
  return `${n} ${n === 1 ? "node" : "nodes"}`;
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {boolean} open */
function chevron(c, x, y, open) {
  c.beginPath();
  if (open) { c.moveTo(x - 4, y - 2); c.lineTo(x + 4, y - 2); c.lineTo(x, y + 3); }
  else { c.moveTo(x - 2, y - 4); c.lineTo(x - 2, y + 4); c.lineTo(x + 3, y); }
  c.fill();
}

/** @param {BoxMark | undefined} mark */
function badgeText(mark) {
  const parts = [];
  if (mark?.plus) parts.push(`+${mark.plus}`);
  if (mark?.minus) parts.push(`−${mark.minus}`);
  return parts;
}

/** @param {Scene} s @param {BoxMark | undefined} mark */
function badgeWidth(s, mark) {
  const parts = badgeText(mark);
  return parts.length ? parts.reduce((w, t) => w + s.metrics.width(t, s.metrics.fonts.tag) + 5, 12) : 0;
}

/** @param {Scene} s @param {BoxMark | undefined} mark @param {number} right @param {number} y */
function drawBadge(s, mark, right, y) {
  const { c, theme, metrics } = s;
  c.font = metrics.fonts.tag;
  c.textAlign = "right";
  c.textBaseline = "middle";
  let x = right;
  for (const text of badgeText(mark).reverse()) {
    c.fillStyle = text[0] === "+" ? theme.add : theme.remove;
    c.fillText(text, x, y);
    x -= metrics.width(text, metrics.fonts.tag) + 5;
  }
}

/** @param {Box} b */
function depth(b) {
  let n = -1;
  for (let g = b.group; g; g = g.parent) n++;
  return n + 1;
}

/** @param {Scene} s @param {Box} b @param {Place} p */
export function drawOpen(s, b, p) {
  const { c, theme } = s;
  c.globalAlpha = p.alpha;
  c.beginPath();
  c.roundRect(p.x, p.y, p.w, p.h, 8);
  c.fillStyle = theme.nest[depth(b) % 2];
  c.fill();
  c.strokeStyle = s.hover === b.key || s.selected.has(b.key) ? theme.primary : theme.border;
  c.lineWidth = 1;
  c.stroke();
  c.globalAlpha = 1;
}

/** Over the wires, with a patch behind it. @param {Scene} s @param {Box} b @param {Place} p */
export function drawTitle(s, b, p) {
  const { c, theme, metrics } = s;
  const g = /** @type {import("./fold.js").Group} */ (b.group);
  const y = p.y + TITLE_H / 2 + 1;
  const mark = s.marks.get(b.key);
  const badge = badgeWidth(s, mark);
  const name = metrics.fit(shortGroup(g.name), metrics.fonts.group, p.w - 34 - badge);
  const used = metrics.width(name, metrics.fonts.group);
  const count = `${countText(s, b)}${g.repeat ? ` ×${g.repeat}` : ""}`;
  const wide = metrics.width(count, metrics.fonts.count);
  const counted = 23 + used + 8 + wide + badge + 8 < p.w;
  c.globalAlpha = p.alpha;
  c.fillStyle = theme.nest[depth(b) % 2];
  c.beginPath();
  c.roundRect(p.x + 5, y - 9, 20 + used + (counted ? wide + 10 : 2), 18, 4);
  c.fill();
  c.globalAlpha = p.alpha * (s.lit ? 0.6 : 1);
  c.fillStyle = theme.muted;
  chevron(c, p.x + 13, y, true);
  c.font = metrics.fonts.group;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillStyle = theme.text;
  c.fillText(name, p.x + 23, y);
  if (counted) {
    c.font = metrics.fonts.count;
    c.fillStyle = theme.muted;
    c.fillText(count, p.x + 23 + used + 8, y);
  }
  if (badge) drawBadge(s, mark, p.x + p.w - 8, y);
  c.globalAlpha = 1;
}
