// @ts-check
// Wires: quiet ones in one stroke, those of the selection and of the difference one by one.
// And stubs: the rounded tags above a consumer of a far-reaching tensor, the count below its producer.

import { TAG_H } from "../layout/metrics.js";
import { drawRound, drawText, LOD, meets, path, TEXT_LOD, vertical } from "./pen.js";

const LABEL_ZOOM = 0.9;
const NAME_ZOOM = 0.7; // below, what an overlay says of a wire is only marked where it changes
const NAME_H = 12;
const NAME_W = 150;

/** @param {Scene} s @param {Bounds} seen */
export function drawWires(s, seen) {
  const { c, theme, view } = s;
  const lit = [];
  const plain = s.lit ? 0.3 : 1;
  c.lineWidth = Math.max(1.25, 0.7 / view.k);
  c.lineJoin = "round";
  c.strokeStyle = c.fillStyle = theme.wire;
  c.globalAlpha = plain;
  c.beginPath();
  const arrows = [];
  const fading = [];
  for (const w of s.wires) {
    if (w.x1 < seen.x0 || w.x0 > seen.x1 || w.y1 < seen.y0 || w.y0 > seen.y1) continue;
    if (isLit(s, w) || (s.overlay && w.state !== 3)) lit.push(w);
    else if (w.alpha !== undefined) fading.push(w);
    else {
      trace(c, w.points, view.k);
      if (w.arrow) arrows.push(w.points);
    }
  }
  c.stroke();
  if (view.k >= LOD) {
    c.beginPath();
    for (const p of arrows) arrow(c, p);
    c.fill();
  }
  if (fading.length) {
    c.globalAlpha = plain * (fading[0].alpha ?? 1);
    c.beginPath();
    for (const w of fading) trace(c, w.points, view.k);
    c.stroke();
  }
  for (const w of lit) drawLit(s, w);
  c.globalAlpha = 1;
  c.setLineDash([]);
  if (s.wireTag || view.k >= LABEL_ZOOM) drawLabels(s, seen);
}

/** At what is selected. @param {Scene} s @param {DrawnWire} w */
const isLit = ({ lit }, w) => lit !== null && w.pairs.some((p) => lit.has(p));

/** @param {Scene} s @param {DrawnWire} w */
function drawLit(s, w) {
  const { c, theme } = s;
  const accent = isLit(s, w);
  const colour = accent ? theme.primary : w.state === 1 ? theme.remove : theme.add;
  c.globalAlpha = s.lit && !accent ? 0.3 : 1;
  c.strokeStyle = c.fillStyle = colour;
  c.lineWidth = accent ? 2 : 1.5;
  c.setLineDash(w.state === 1 && s.overlay ? [4, 3] : []);
  c.beginPath();
  trace(c, w.points, s.view.k);
  c.stroke();
  c.setLineDash([]);
  if (w.arrow) {
    c.beginPath();
    arrow(c, w.points);
    c.fill();
  }
}

/** @param {CanvasRenderingContext2D} c @param {number[]} p @param {number} k */
function trace(c, p, k) {
  const n = p.length;
  c.moveTo(p[0], p[1]);
  if (k < LOD) {
    for (let i = 2; i < n; i += 2) c.lineTo(p[i], p[i + 1]);
    return;
  }
  for (let i = 2; i < n - 2; i += 2) {
    const before = Math.abs(p[i] - p[i - 2]) + Math.abs(p[i + 1] - p[i - 1]);
    const behind = Math.abs(p[i + 2] - p[i]) + Math.abs(p[i + 3] - p[i + 1]);
    const r = Math.min(8, before / 2, behind / 2);
    if (r < 1) c.lineTo(p[i], p[i + 1]);
    else c.arcTo(p[i], p[i + 1], p[i + 2], p[i + 3], r);
  }
  c.lineTo(p[n - 2], p[n - 1]);
}

/** @param {CanvasRenderingContext2D} c @param {number[]} p */
function arrow(c, p) {
  const x = p[p.length - 2];
  const y = p[p.length - 1];
  c.moveTo(x, y);
  c.lineTo(x - 3.2, y - 6);
  c.lineTo(x + 3.2, y - 6);
  c.closePath();
}

/** Where a wire leaves its node, once: what an overlay says of it, and shapes. @param {Scene} s @param {Bounds} seen */
function drawLabels(s, seen) {
  const { c } = s;
  const style = { font: s.metrics.fonts.edge, colour: s.theme.muted };
  const done = new Set();
  for (const w of s.wires) {
    const [x, y] = w.points;
    if (w.edge < 0 || x < seen.x0 - NAME_W || x > seen.x1 || y < seen.y0 - 20 || y > seen.y1)
      continue;
    const at = `${x},${y}`;
    if (done.has(at)) continue;
    done.add(at);
    c.globalAlpha = s.lit && !isLit(s, w) ? 0.3 : 0.9;
    const tag = s.wireTag?.(w.edge);
    const used = tag ? drawName(s, tag, x, y) : 0;
    const label = s.view.k >= LABEL_ZOOM && s.edgeLabel(w.edge);
    if (label) drawText(c, s.metrics.fit(label, style.font, 110), x + 6 + used, y + 8, style);
  }
  c.globalAlpha = 1;
}

/**
 * In the colour of its name; what changes there has a frame, and from afar a diamond.
 * @param {Scene} s @param {import("../overlays/overlay.js").WireTag} tag @param {number} x @param {number} y
 * @returns {number} how much room it takes
 */
function drawName({ c, theme, metrics, view }, { text, shade, changes }, x, y) {
  if (view.k < NAME_ZOOM) {
    const r = Math.max(4, 3 / view.k);
    path(c, x, y + 8 - r, x + r, y + 8, x, y + 8 + r, x - r, y + 8);
    c.fillStyle = theme.text;
    if (changes) c.fill();
    return 0;
  }
  const font = metrics.fonts.tag;
  const shown = metrics.fit(text, font, NAME_W);
  const at = { x: x + 4, y: y + 2, w: metrics.width(shown, font) + 8, h: NAME_H };
  const frame = changes ? { stroke: theme.text, line: 1.25 } : {};
  drawRound(c, at, 3, { fill: shade.tint, ...frame });
  drawText(c, shown, at.x + 4, at.y + NAME_H / 2 + 0.5, { font, colour: theme.text });
  return at.w;
}

/** With its box, while that moves. @param {Scene} s @param {{x: number, y: number, box: number}} t */
function moved(s, t) {
  const b = s.progress < 1 ? s.picture.byKey.get(t.box) : undefined;
  if (!b) return { x: t.x, y: t.y };
  const p = s.at(b);
  return { x: t.x + p.x + p.w / 2 - b.x - b.w / 2, y: t.y + p.y - b.y };
}

/** @param {Scene} s @param {Bounds} seen */
export function drawTags(s, seen) {
  if (s.view.k < TEXT_LOD) return;
  for (const still of s.picture.tags) drawTag(s, { ...still, ...moved(s, still) }, seen);
  for (const still of s.picture.stubs) drawStub(s, { ...still, ...moved(s, still) }, seen);
  s.c.globalAlpha = 1;
}

/** @param {Scene} s @param {import("../layout/placement.js").DrawnTag} t @param {Bounds} seen */
function drawTag({ c, theme, metrics, lit }, t, seen) {
  if (!meets({ x: t.x, y: t.y, w: t.w, h: TAG_H + 8 }, seen)) return;
  const font = metrics.fonts.tag;
  const isLit = lit?.has(t.tag.pair) ?? false;
  const mid = t.x + t.w / 2;
  const stroke = isLit ? theme.primary : theme.faint;
  c.globalAlpha = lit && !isLit ? 0.35 : 1;
  const fill = isLit ? theme.primary : theme.panel;
  drawRound(c, { x: t.x, y: t.y + 1, w: t.w, h: TAG_H }, 7.5, { fill, stroke });
  vertical(c, mid, t.y + 1 + TAG_H, t.y + 23);
  const fit = metrics.fit(t.label, font, t.w - (t.more > 0 ? 32 : 12));
  const text = t.more > 0 ? `${fit} +${t.more}` : fit;
  const colour = isLit ? theme.bg : theme.muted;
  drawText(c, text, mid, t.y + 1.5 + TAG_H / 2, { font, colour, align: "center" });
}

/** @param {Scene} s @param {Picture["stubs"][number]} t @param {Bounds} seen */
function drawStub(s, t, seen) {
  const { c, theme, metrics, lit, selected } = s;
  if (!meets({ x: t.x - 20, y: t.y, w: 40, h: 24 }, seen)) return;
  const isLit = selected.has(t.box);
  c.globalAlpha = lit && !isLit ? 0.35 : 1;
  c.lineWidth = 1;
  c.strokeStyle = isLit ? theme.primary : theme.faint;
  vertical(c, t.x + 12, t.y, t.y + 9);
  const style = { font: metrics.fonts.tag, colour: isLit ? theme.primary : theme.muted };
  drawText(c, t.label, t.x + 14, t.y + 15, { ...style, align: "center" });
  const tag = s.wireTag?.(t.edge);
  if (tag) drawName(s, tag, t.x + 14 + metrics.width(t.label, style.font) / 2, t.y + 7);
}
