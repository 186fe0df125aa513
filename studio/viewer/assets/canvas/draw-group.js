// @ts-check
// How a closed and an open group look.

import { focusRing, halo, RADIUS, ring } from "./draw-box.js";
import { markColour, TEXT_LOD } from "./detail.js";
import { FOLD_W, shortGroup, TITLE_H } from "../layout/metrics.js";
import { counted } from "../page/numbers.js";

/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {import("./draw.js").BoxMark} BoxMark */
/** @typedef {import("../layout/placement.js").Box} Box */
/** @typedef {import("./draw-box.js").Place} Place */

/** @type {Record<string, (theme: import("../page/theme.js").Theme) => string>} by the badge's sign */
const BADGES = {
  "+": (theme) => theme.add,
  "−": (theme) => theme.remove,
  A: (theme) => theme.first,
  B: (theme) => theme.second,
};

/**
 * A closed group: a small stack with its name, how many nodes, and what changed inside.
 * @param {Scene} s
 * @param {Box} b
 * @param {Place} p
 */
export function drawClosed(s, b, p) {
  const { c, theme, metrics } = s;
  const g = /** @type {import("../trace/group.js").Group} */ (b.group);
  const mark = s.marks.get(b.key);
  const value = s.shading?.value(b) ?? null;
  if (mark?.now) halo(s, p, markColour(theme, mark.mark));
  for (const d of [5, 2.5, 0]) {
    c.beginPath();
    c.roundRect(p.x + d, p.y - d, p.w - (d ? 2 * d : 0), p.h, RADIUS);
    c.fillStyle = s.shading && value ? s.shading.colour(value.share).tint : theme.panel;
    c.fill();
    c.strokeStyle = theme.faint;
    c.lineWidth = 1;
    c.stroke();
  }
  if (s.view.k >= TEXT_LOD) {
    c.textAlign = "left";
    c.textBaseline = "middle";
    foldMark(s, b, { x: p.x + 13, y: p.y + 14, open: false });
    c.font = metrics.fonts.group;
    c.fillStyle = theme.text;
    const badge = badgeWidth(s, mark);
    c.fillText(
      metrics.fit(shortGroup(g.name), metrics.fonts.group, p.w - 34 - badge),
      p.x + 24,
      p.y + 14,
    );
    c.font = metrics.fonts.count;
    c.fillStyle = theme.muted;
    const number = s.shading && value ? `   ${s.shading.label(value)}` : "";
    c.fillText(
      `${countText(s, b)}${g.repeat ? `   ×${g.repeat}` : ""}${number}`,
      p.x + 24,
      p.y + 30,
    );
    if (badge) drawBadge(s, mark, p.x + p.w - 8, p.y + 14);
  }
  if (mark?.mark && mark.now) ring(s, p, { ...mark, mark: mark.mark });
  if (s.selected.has(b.key) || s.hover === b.key) focusRing(s, p, s.selected.has(b.key));
}

/** @param {Scene} s @param {Box} b */
const countText = (s, b) =>
  counted(s.counts[/** @type {import("../trace/group.js").Group} */ (b.group).at], "node");

/**
 * What one clicks to open or close it; the rest of the title selects it.
 * @param {Scene} s @param {Box} b @param {{x: number, y: number, open: boolean}} at
 */
function foldMark(s, b, { x, y, open }) {
  const { c, theme } = s;
  const under = s.hover === b.key && s.folds;
  if (s.hover === b.key) {
    c.beginPath();
    c.roundRect(x - FOLD_W / 2 + 3, y - 9, FOLD_W - 6, 18, 4);
    c.fillStyle = under ? theme.primary : theme.border;
    c.fill();
  }
  c.fillStyle = under ? theme.bg : theme.muted;
  chevron(c, x, y, open);
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {boolean} open */
function chevron(c, x, y, open) {
  c.beginPath();
  if (open) {
    c.moveTo(x - 4, y - 2);
    c.lineTo(x + 4, y - 2);
    c.lineTo(x, y + 3);
  } else {
    c.moveTo(x - 2, y - 4);
    c.lineTo(x - 2, y + 4);
    c.lineTo(x + 3, y);
  }
  c.fill();
}

/** What changed inside: how many came and went, or are there on one side alone. @param {BoxMark | undefined} mark */
function badgeText(mark) {
  const [more, less] = mark?.sides ? ["B ", "A "] : ["+", "−"];
  const parts = [];
  if (mark?.plus) parts.push(`${more}${mark.plus}`);
  if (mark?.minus) parts.push(`${less}${mark.minus}`);
  return parts;
}

/** @param {Scene} s @param {BoxMark | undefined} mark */
function badgeWidth(s, mark) {
  const parts = badgeText(mark);
  return parts.length
    ? parts.reduce((w, t) => w + s.metrics.width(t, s.metrics.fonts.tag) + 5, 12)
    : 0;
}

/** @param {Scene} s @param {BoxMark | undefined} mark @param {number} right @param {number} y */
function drawBadge(s, mark, right, y) {
  const { c, theme, metrics } = s;
  c.font = metrics.fonts.tag;
  c.textAlign = "right";
  c.textBaseline = "middle";
  let x = right;
  for (const text of badgeText(mark).reverse()) {
    c.fillStyle = BADGES[text[0]](theme);
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
  const selected = s.selected.has(b.key);
  c.strokeStyle = s.hover === b.key || selected ? theme.primary : theme.border;
  c.lineWidth = selected ? 2.5 : 1;
  c.stroke();
  c.globalAlpha = 1;
}

/** Over the wires, with a patch behind it. @param {Scene} s @param {Box} b @param {Place} p */
export function drawTitle(s, b, p) {
  const { c, theme, metrics } = s;
  const g = /** @type {import("../trace/group.js").Group} */ (b.group);
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
  const aside = s.lit && !s.selected.has(b.key) && !s.inside.has(b.key);
  c.globalAlpha = p.alpha * (aside ? 0.6 : 1);
  foldMark(s, b, { x: p.x + 13, y, open: true });
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
