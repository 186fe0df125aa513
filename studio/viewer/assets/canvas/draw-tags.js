// @ts-check
// Stubs: the rounded tags above a consumer of a far-reaching tensor, and the count below its producer.

import { meets, TEXT_LOD } from "./detail.js";
import { TAG_H } from "../layout/metrics.js";

/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {import("./draw.js").Bounds} Bounds */

/** With its box, while that moves. @param {Scene} s @param {{x: number, y: number, box: number}} t */
function moved(s, t) {
  const b = s.progress < 1 ? s.picture.byKey.get(t.box) : undefined;
  if (!b) return { x: t.x, y: t.y };
  const p = s.at(b);
  return { x: t.x + p.x + p.w / 2 - b.x - b.w / 2, y: t.y + p.y - b.y };
}

/** @param {Scene} s @param {Bounds} seen */
export function drawTags(s, seen) {
  const { c, theme, metrics } = s;
  if (s.view.k < TEXT_LOD) return;
  c.font = metrics.fonts.tag;
  c.textBaseline = "middle";
  c.textAlign = "center";
  for (const still of s.picture.tags) {
    const t = { ...still, ...moved(s, still) };
    if (!meets({ x: t.x, y: t.y, w: t.w, h: TAG_H + 8 }, seen)) continue;
    const lit = s.lit?.has(t.tag?.pair ?? -1) ?? false;
    c.globalAlpha = s.lit && !lit ? 0.35 : 1;
    const mid = t.x + t.w / 2;
    c.strokeStyle = lit ? theme.primary : theme.faint;
    c.fillStyle = lit ? theme.primary : theme.panel;
    c.lineWidth = 1;
    c.beginPath();
    c.roundRect(t.x, t.y + 1, t.w, TAG_H, 7.5);
    c.fill();
    c.stroke();
    c.beginPath();
    c.moveTo(mid, t.y + 1 + TAG_H);
    c.lineTo(mid, t.y + 23);
    c.stroke();
    c.fillStyle = lit ? theme.bg : theme.muted;
    const text =
      t.more > 0
        ? `${metrics.fit(t.label, metrics.fonts.tag, t.w - 32)} +${t.more}`
        : metrics.fit(t.label, metrics.fonts.tag, t.w - 12);
    c.fillText(text, mid, t.y + 1.5 + TAG_H / 2);
  }
  for (const still of s.picture.stubs) {
    const t = { ...still, ...moved(s, still) };
    if (!meets({ x: t.x - 20, y: t.y, w: 40, h: 24 }, seen)) continue;
    c.globalAlpha = s.lit && !s.selected.has(t.box) ? 0.35 : 1;
    c.strokeStyle = c.fillStyle = s.selected.has(t.box) ? theme.primary : theme.faint;
    c.beginPath();
    c.moveTo(t.x + 12, t.y);
    c.lineTo(t.x + 12, t.y + 9);
    c.stroke();
    c.fillStyle = s.selected.has(t.box) ? theme.primary : theme.muted;
    c.fillText(t.label, t.x + 14, t.y + 15);
  }
  c.globalAlpha = 1;
}
