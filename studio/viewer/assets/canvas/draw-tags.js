// @ts-check
// Stubs: the rounded tags above a consumer of a far-reaching tensor, and the count below its producer.

import { meets, TEXT_LOD } from "./detail.js";
import { TAG_H } from "../layout/metrics.js";
import { drawRound, drawText, vertical } from "./pen.js";

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

/** @param {Scene} s @param {{x: number, y: number, label: string, box: number}} t @param {Bounds} seen */
function drawStub({ c, theme, metrics, lit, selected }, t, seen) {
  if (!meets({ x: t.x - 20, y: t.y, w: 40, h: 24 }, seen)) return;
  const isLit = selected.has(t.box);
  c.globalAlpha = lit && !isLit ? 0.35 : 1;
  c.lineWidth = 1;
  c.strokeStyle = isLit ? theme.primary : theme.faint;
  vertical(c, t.x + 12, t.y, t.y + 9);
  const style = { font: metrics.fonts.tag, colour: isLit ? theme.primary : theme.muted };
  drawText(c, t.label, t.x + 14, t.y + 15, { ...style, align: "center" });
}
