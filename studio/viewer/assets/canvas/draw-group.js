// @ts-check
// How a closed and an open group look.

import { focusRing, halo, RADIUS, ring, sign } from "./draw-box.js";
import { drawRound, drawText, markColour, path, TEXT_LOD } from "./pen.js";
import { FOLD_W, shortGroup, TITLE_H } from "../layout/metrics.js";
import { ancestry } from "../trace/group.js";
import { counted } from "../page/numbers.js";

/** @typedef {import("./draw-box.js").Place} Place */

/** @type {Record<string, (theme: Theme) => string>} by the badge's sign */
const BADGES = {
  "+": (theme) => theme.add,
  "−": (theme) => theme.remove,
  A: (theme) => theme.first,
  B: (theme) => theme.second,
};

/**
 * A closed group: a small stack with its name, how many nodes, and what changed inside.
 * @param {Scene} s @param {Box} b @param {Place} p
 */
export function drawClosed(s, b, p) {
  const { c, theme } = s;
  const mark = s.marks.get(b.key);
  const value = s.value(b);
  if (mark?.now) halo(s, p, markColour(theme, mark.mark));
  const fill = (value && s.colours?.colour(theme, value).tint) ?? theme.panel;
  for (const d of [5, 2.5, 0]) {
    const sheet = { x: p.x + d, y: p.y - d, w: p.w - 2 * d, h: p.h };
    drawRound(c, sheet, RADIUS, { fill, stroke: theme.faint });
  }
  const label = s.colours && value ? `   ${s.colours.label(value)}` : "";
  if (s.view.k >= TEXT_LOD) closedTexts(s, b, p, label);
  if (mark?.mark && mark.now) ring(s, p, mark);
  focusRing(s, b, p);
  if (value?.finding) sign(s, p.x, p.y, { text: "!", colour: theme.remove, radius: 7 });
}

/** @param {Scene} s @param {Box} b @param {Place} p @param {string} label of an overlay */
function closedTexts(s, b, p, label) {
  const { c, theme, metrics } = s;
  const { group: font, count } = metrics.fonts;
  const g = /** @type {Group} */ (b.group);
  const mark = s.marks.get(b.key);
  foldMark(s, b, { x: p.x + 13, y: p.y + 14, open: false });
  const name = metrics.fit(shortGroup(g.name), font, p.w - 34 - badgeWidth(s, mark));
  drawText(c, name, p.x + 24, p.y + 14, { font, colour: theme.text });
  const text = `${countText(s, b)}${g.repeat ? `   ×${g.repeat}` : ""}${label}`;
  const colour = label ? theme.text : theme.muted;
  drawText(c, text, p.x + 24, p.y + 30, { font: count, colour });
  drawBadge(s, mark, p.x + p.w - 8, p.y + 14);
}

/** @param {Scene} s @param {Box} b */
const countText = (s, b) => counted(s.counts[/** @type {Group} */ (b.group).at], "node");

/**
 * What one clicks to open or close it; the rest of the title selects it.
 * @param {Scene} s @param {Box} b @param {{x: number, y: number, open: boolean}} at
 */
function foldMark(s, b, { x, y, open }) {
  const { c, theme } = s;
  const under = s.hover === b.key && s.folds;
  const button = { x: x - FOLD_W / 2 + 3, y: y - 9, w: FOLD_W - 6, h: 18 };
  if (s.hover === b.key) drawRound(c, button, 4, { fill: under ? theme.primary : theme.border });
  c.fillStyle = under ? theme.bg : theme.muted;
  if (open) path(c, x - 4, y - 2, x + 4, y - 2, x, y + 3);
  else path(c, x - 2, y - 4, x - 2, y + 4, x + 3, y);
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
function drawBadge({ c, theme, metrics }, mark, right, y) {
  const font = metrics.fonts.tag;
  let x = right;
  for (const text of badgeText(mark).reverse()) {
    drawText(c, text, x, y, { font, colour: BADGES[text[0]](theme), align: "right" });
    x -= metrics.width(text, font) + 5;
  }
}

/** @param {Box} b */
const depth = (b) => [...ancestry(b.group)].length;

/** @param {Scene} s @param {Box} b @param {Place} p */
export function drawOpen({ c, theme, selected, hover }, b, p) {
  const strong = selected.has(b.key);
  const stroke = hover === b.key || strong ? theme.primary : theme.border;
  c.globalAlpha = p.alpha;
  drawRound(c, p, 8, { fill: theme.nest[depth(b) % 2], stroke, line: strong ? 2.5 : 1 });
  c.globalAlpha = 1;
}

/** Over the wires, with a patch behind it. @param {Scene} s @param {Box} b @param {Place} p */
export function drawTitle(s, b, p) {
  const { c, theme, metrics } = s;
  const { group: font, count: light } = metrics.fonts;
  const g = /** @type {Group} */ (b.group);
  const y = p.y + TITLE_H / 2 + 1;
  const mark = s.marks.get(b.key);
  const badge = badgeWidth(s, mark);
  const name = metrics.fit(shortGroup(g.name), font, p.w - 34 - badge);
  const used = metrics.width(name, font);
  const count = `${countText(s, b)}${g.repeat ? ` ×${g.repeat}` : ""}`;
  const wide = metrics.width(count, light);
  const counted = 23 + used + 8 + wide + badge + 8 < p.w;
  c.globalAlpha = p.alpha;
  const patch = { x: p.x + 5, y: y - 9, w: 20 + used + (counted ? wide + 10 : 2), h: 18 };
  drawRound(c, patch, 4, { fill: theme.nest[depth(b) % 2] });
  const aside = s.lit && !s.selected.has(b.key) && !s.inside.has(b.key);
  c.globalAlpha = p.alpha * (aside ? 0.6 : 1);
  foldMark(s, b, { x: p.x + 13, y, open: true });
  drawText(c, name, p.x + 23, y, { font, colour: theme.text });
  if (counted) drawText(c, count, p.x + 31 + used, y, { font: light, colour: theme.muted });
  drawBadge(s, mark, p.x + p.w - 8, y);
  c.globalAlpha = 1;
}
