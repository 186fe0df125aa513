// @ts-check
// One pane on its canvas: groups, wires, boxes, stubs, in this order, only what the viewport meets.

import { drawBox } from "./drawbox.js";
import { drawClosed, drawOpen, drawTitle } from "./drawgroup.js";
import { TAG_H } from "./metrics.js";

/** @typedef {import("./place.js").Picture} Picture */
/** @typedef {import("./place.js").Box} Box */
/** @typedef {import("./theme.js").Theme} Theme */

export const LOD = 0.3; // below: plain rectangles
export const TEXT_LOD = 0.42; // below: no text in boxes
const LABEL_ZOOM = 0.9;

/** @typedef {"added" | "removed" | "changed" | "matched"} Mark */
/**
 * @typedef {{mark: Mark | null, now: boolean, faded: boolean, plus: number, minus: number}} BoxMark
 */

/**
 * @typedef {object} Scene everything one drawing needs
 * @property {CanvasRenderingContext2D} c
 * @property {number} width @property {number} height @property {number} dpr
 * @property {import("./camera.js").View} view
 * @property {Theme} theme
 * @property {import("./metrics.js").Metrics} metrics
 * @property {Picture} picture
 * @property {Map<number, BoxMark>} marks
 * @property {Set<number>} selected box keys
 * @property {Set<number> | null} lit pairs of the selected boxes, null = nothing selected
 * @property {Set<number>} near boxes at the other ends of those
 * @property {number} hover box key or -1
 * @property {(b: Box) => {x: number, y: number, w: number, h: number, alpha: number}} at place in the animation
 * @property {number} progress 0..1 of the animation
 * @property {Box[]} ghosts boxes that have just gone
 * @property {boolean} overlay
 * @property {Int32Array} counts nodes alive below each group
 * @property {(edge: number) => string} edgeLabel
 */

/** @typedef {{x0: number, y0: number, x1: number, y1: number}} Bounds */

/** @param {Scene} s */
export function drawPane(s) {
  const { c, view, dpr, width, height } = s;
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.fillStyle = s.theme.bg;
  c.fillRect(0, 0, width + 1, height + 1);
  const k = view.k;
  c.setTransform(
    dpr * k,
    0,
    0,
    dpr * k,
    dpr * (width / 2 - k * view.x),
    dpr * (height / 2 - k * view.y),
  );
  const seen = {
    x0: view.x - width / 2 / k - 20,
    x1: view.x + width / 2 / k + 20,
    y0: view.y - height / 2 / k - 20,
    y1: view.y + height / 2 / k + 20,
  };
  for (const b of s.picture.boxes)
    if (b.kind === "open") {
      const p = s.at(b);
      if (meets(p, seen)) drawOpen(s, b, p);
    }
  drawWires(s, seen);
  if (k < LOD) {
    drawSpecks(s, seen);
    return;
  }
  for (const b of s.picture.boxes)
    if (b.kind === "open") {
      const p = s.at(b);
      if (meets({ ...p, h: 26 }, seen)) drawTitle(s, b, p);
    }
  for (const b of s.ghosts) drawGhost(s, b, seen);
  for (const b of s.picture.boxes) {
    if (b.kind === "open") continue;
    const p = s.at(b);
    if (!meets(p, seen)) continue;
    c.globalAlpha = p.alpha * (dimmed(s, b) ? 0.35 : 1);
    if (b.kind === "closed") drawClosed(s, b, p);
    else drawBox(s, b, p);
    c.globalAlpha = 1;
  }
  drawTags(s, seen);
}

/** @param {{x: number, y: number, w: number, h: number}} b @param {Bounds} v */
function meets(b, v) {
  return b.x <= v.x1 && b.x + b.w >= v.x0 && b.y <= v.y1 && b.y + b.h >= v.y0;
}

/**
 * With a selection everything but it and its neighbours steps back.
 * @param {Scene} s
 * @param {Box} b
 */
function dimmed(s, b) {
  return s.lit !== null && !s.selected.has(b.key) && !s.near.has(b.key);
}

/** @param {Scene} s @param {Box} b @param {Bounds} seen */
function drawGhost(s, b, seen) {
  if (!meets(b, seen)) return;
  s.c.globalAlpha = 0.6 * (1 - s.progress);
  drawBox(s, b, { ...b, alpha: 1 }, { mark: "removed", now: true, faded: true, plus: 0, minus: 0 });
  s.c.globalAlpha = 1;
}

/** @param {Scene} s @param {Bounds} seen */
function drawSpecks(s, seen) {
  const { c, theme } = s;
  for (const b of s.picture.boxes) {
    if (b.kind === "open" || !meets(b, seen)) continue;
    c.globalAlpha = dimmed(s, b) ? 0.35 : 1;
    const mark = s.marks.get(b.key);
    c.fillStyle = b.kind === "closed" ? theme.faint : theme.category(b.rec?.cat ?? "unknown").solid;
    c.fillRect(b.x, b.y, b.w, b.h);
    if (mark?.mark || s.selected.has(b.key)) {
      c.strokeStyle = s.selected.has(b.key) ? theme.primary : markColour(theme, mark?.mark ?? null);
      c.lineWidth = 3 / s.view.k;
      c.strokeRect(b.x, b.y, b.w, b.h);
    }
  }
  c.globalAlpha = 1;
}

/** @param {Theme} t @param {Mark | null} mark */
export function markColour(t, mark) {
  return mark === "added"
    ? t.add
    : mark === "removed"
      ? t.remove
      : mark === "changed"
        ? t.change
        : t.match;
}

/** @param {Scene} s @param {Bounds} seen */
function drawWires(s, seen) {
  const { c, theme, view } = s;
  const lit = [];
  const plain = s.lit ? 0.3 : 1;
  const fade = s.progress < 1 && s.ghosts.length ? 0.35 + 0.65 * s.progress : 1;
  c.lineWidth = Math.max(1.25, 0.7 / view.k);
  c.lineJoin = "round";
  c.strokeStyle = theme.wire;
  c.fillStyle = theme.wire;
  c.globalAlpha = plain * fade;
  c.beginPath();
  const arrows = [];
  for (const w of s.picture.wires) {
    if (w.x1 < seen.x0 || w.x0 > seen.x1 || w.y1 < seen.y0 || w.y0 > seen.y1) continue;
    if (s.lit && w.pairs.some((p) => s.lit?.has(p))) {
      lit.push(w);
      continue;
    }
    if (s.overlay && w.state !== 3) {
      lit.push(w);
      continue;
    }
    trace(c, w.points, view.k);
    if (w.arrow) arrows.push(w.points);
  }
  c.stroke();
  if (view.k >= LOD) {
    c.beginPath();
    for (const p of arrows) arrow(c, p);
    c.fill();
  }
  for (const w of lit) drawLit(s, w);
  c.globalAlpha = 1;
  c.setLineDash([]);
  if (view.k >= LABEL_ZOOM) drawLabels(s, seen);
}

/** @param {Scene} s @param {import("./place.js").DrawnWire} w */
function drawLit(s, w) {
  const { c, theme } = s;
  const accent = s.lit !== null && w.pairs.some((p) => s.lit?.has(p));
  const colour = accent ? theme.primary : w.state === 1 ? theme.remove : theme.add;
  c.globalAlpha = s.lit && !accent ? 0.3 : 1;
  c.strokeStyle = colour;
  c.fillStyle = colour;
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

/** Shapes on wires, once where a wire leaves its node. @param {Scene} s @param {Bounds} seen */
function drawLabels(s, seen) {
  const { c } = s;
  c.font = s.metrics.fonts.edge;
  c.textAlign = "left";
  c.textBaseline = "middle";
  const done = new Set();
  for (const w of s.picture.wires) {
    const [x, y] = w.points;
    if (w.edge < 0 || x < seen.x0 - 100 || x > seen.x1 || y < seen.y0 - 20 || y > seen.y1) continue;
    const at = `${x},${y}`;
    if (done.has(at)) continue;
    done.add(at);
    const label = s.edgeLabel(w.edge);
    if (!label) continue;
    c.globalAlpha = s.lit && !w.pairs.some((p) => s.lit?.has(p)) ? 0.3 : 0.9;
    c.fillStyle = s.theme.muted;
    c.fillText(s.metrics.fit(label, s.metrics.fonts.edge, 110), x + 6, y + 8);
  }
  c.globalAlpha = 1;
}

/** @param {Scene} s @param {Bounds} seen */
function drawTags(s, seen) {
  const { c, theme, metrics } = s;
  if (s.view.k < TEXT_LOD) return;
  c.font = metrics.fonts.tag;
  c.textBaseline = "middle";
  c.textAlign = "center";
  for (const t of s.picture.tags) {
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
  for (const t of s.picture.stubs) {
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
