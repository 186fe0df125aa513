// @ts-check
// How a node looks, and the marks around it.

import { drawGlyph } from "./glyphs.js";
import { CAP, NODE_H, rowText } from "../layout/metrics.js";
import { drawRound, drawText, grown, markColour, slanted, TEXT_LOD } from "./pen.js";

/** @typedef {{x: number, y: number, w: number, h: number, alpha: number}} Place */

export const RADIUS = 6;
/** @type {Map<Mark, string>} in the corner; never by colour alone */
const SIGNS = new Map([
  ["added", "+"],
  ["changed", "~"],
  ["removed", "−"],
  ["vetoed", "×"],
  ["declined", "!"],
  ["first", "A"],
  ["second", "B"],
]);
/** @type {Map<Mark, number[]>} */
const DASHES = new Map([
  ["removed", [5, 3]],
  ["declined", [2, 3]],
]);

/** @param {Scene} s @param {Box} b @param {Place} p @param {BoxMark} [given] */
export function drawBox(s, b, p, given) {
  const { c, theme } = s;
  const rec = /** @type {NodeRecord} */ (b.rec);
  const mark = given ?? s.marks.get(b.key);
  const colours = theme.category(rec.cat);
  const outline = rec.cat === "io";
  const alpha = c.globalAlpha;
  if (mark?.mark === "matched" || mark?.now) halo(s, p, markColour(theme, mark.mark));
  if (mark?.faded && !s.colours) c.globalAlpha = alpha * 0.5;
  const value = s.value(b);
  const shade = value && s.colours?.colour(theme, value);
  const fill = shade?.tint ?? (outline || s.colours ? theme.bg : colours.tint);
  drawRound(c, p, outline ? 12 : RADIUS, { fill });
  if (rec.cat === "unknown") hatch(s, p);
  c.strokeStyle = shade?.edge ?? (s.colours ? theme.border : colours.edge);
  c.lineWidth = 1;
  if (mark?.mark === "removed") c.setLineDash([4, 3]);
  c.stroke();
  c.setLineDash([]);
  const cap = shade?.solid ?? colours.solid;
  if (!outline) drawRound(c, { ...p, w: CAP }, [RADIUS, 0, 0, RADIUS], { fill: cap });
  const middle = p.x + CAP / 2 + (outline ? 2 : 0);
  drawGlyph(c, rec.cat, middle, p.y + p.h / 2, outline ? theme.muted : "#fff");
  if (s.view.k >= TEXT_LOD) texts(s, rec, p, shade ? theme.text : theme.muted);
  if (s.colours && value && s.view.k >= TEXT_LOD) valueTag(s, p, s.colours.label(value));
  c.globalAlpha = alpha;
  if (mark?.mark) ring(s, p, mark);
  focusRing(s, b, p);
  if (value?.finding) sign(s, p.x, p.y, { text: "!", colour: theme.remove, radius: 7 });
}

/** @param {Scene} s @param {Place} p */
function hatch({ c, theme }, p) {
  c.save();
  c.clip();
  slanted(c, p, theme.border, p.x - p.h, 6);
  c.restore();
  drawRound(c, p, RADIUS, {});
}

/**
 * What an overlay says, beside the box: inside it would take the room of the name.
 * @param {Scene} s @param {Place} p @param {string} label
 */
function valueTag({ c, theme, metrics }, p, label) {
  if (!label) return;
  const y = p.y + NODE_H / 2 + 0.5;
  const x = p.x + p.w + 7;
  const w = metrics.width(label, metrics.fonts.tag) + 6;
  drawRound(c, { x: x - 3, y: y - 7, w, h: 14 }, 3, { fill: theme.patch });
  drawText(c, label, x, y, { font: metrics.fonts.tag, colour: theme.text });
}

/** @param {Scene} s @param {NodeRecord} rec @param {Place} p @param {string} colour of what stands beside the name */
function texts({ c, theme, metrics }, rec, p, colour) {
  const { op: bold, brief: font, row } = metrics.fonts;
  const left = p.x + CAP + 7;
  const room = p.w - CAP - 14;
  const y = p.y + NODE_H / 2 + 0.5;
  const op = metrics.fit(rec.op, bold, room);
  drawText(c, op, left, y, { font: bold, colour: theme.text });
  const used = metrics.width(op, bold) + 6;
  if (rec.brief && room - used > 12)
    drawText(c, metrics.fit(rec.brief, font, room - used), left + used, y, { font, colour });
  if (rec.rows?.length && p.h > NODE_H + 4) {
    const text = metrics.fit(rowText(rec), row, room);
    drawText(c, text, left, p.y + NODE_H + 3, { font: row, colour });
  }
}

/** @param {Scene} s @param {Place} p @param {string} colour */
export function halo({ c }, p, colour) {
  const alpha = c.globalAlpha;
  for (const [grow, a] of [
    [7, 0.16],
    [4, 0.3],
  ]) {
    c.globalAlpha = alpha * a;
    drawRound(c, p, RADIUS, { stroke: colour, line: grow * 2 });
  }
  c.globalAlpha = alpha;
}

/** The ring of what a rewrite did, with its sign in a corner. @param {Scene} s @param {Place} p @param {BoxMark} mark */
export function ring(s, p, mark) {
  const { c, theme } = s;
  const colour = markColour(theme, mark.mark);
  c.setLineDash(DASHES.get(mark.mark ?? "matched") ?? []);
  drawRound(c, grown(p, 1.5), RADIUS + 1.5, { stroke: colour, line: mark.now ? 2.25 : 1.25 });
  c.setLineDash([]);
  const text = SIGNS.get(mark.mark ?? "matched");
  if (!text || (!mark.now && s.view.k < 0.6)) return;
  sign(s, p.x + p.w, p.y, { text, colour, radius: mark.now ? 7.5 : 6 });
}

/** In a disc. @param {Scene} s @param {number} x @param {number} y @param {{text: string, colour: string, radius: number}} what */
export function sign({ c, theme, metrics }, x, y, { text, colour, radius }) {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  c.fillStyle = colour;
  c.fill();
  const style = { font: metrics.fonts.mark, colour: theme.bg };
  drawText(c, text, x, y + 0.5, { ...style, align: "center" });
}

/** Around what is selected or under the pointer. @param {Scene} s @param {Box} b @param {Place} p */
export function focusRing({ c, theme, selected, hover }, b, p) {
  const strong = selected.has(b.key);
  if (!strong && hover !== b.key) return;
  drawRound(c, grown(p, 3), RADIUS + 3, { stroke: theme.primary, line: strong ? 2.5 : 1.25 });
}
