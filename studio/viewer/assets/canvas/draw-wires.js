// @ts-check
// Wires: quiet ones in one stroke, those of the selection and of the difference one by one.

import { LOD } from "./detail.js";
import { drawText } from "./pen.js";

const LABEL_ZOOM = 0.9;

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
  if (view.k >= LABEL_ZOOM) drawLabels(s, seen);
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

/** Shapes on wires, once where a wire leaves its node. @param {Scene} s @param {Bounds} seen */
function drawLabels(s, seen) {
  const { c } = s;
  const style = { font: s.metrics.fonts.edge, colour: s.theme.muted };
  const done = new Set();
  for (const w of s.wires) {
    const [x, y] = w.points;
    if (w.edge < 0 || x < seen.x0 - 100 || x > seen.x1 || y < seen.y0 - 20 || y > seen.y1) continue;
    const at = `${x},${y}`;
    if (done.has(at)) continue;
    done.add(at);
    const label = s.edgeLabel(w.edge);
    if (!label) continue;
    c.globalAlpha = s.lit && !isLit(s, w) ? 0.3 : 0.9;
    drawText(c, s.metrics.fit(label, style.font, 110), x + 6, y + 8, style);
  }
  c.globalAlpha = 1;
}
