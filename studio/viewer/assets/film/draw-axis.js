// @ts-check
// The axis that all lanes share, the bound, and how far each arena has grown.

import { BREAK_PX, ticks } from "./scale.js";
import { bytesText } from "../page/numbers.js";
import { NAIVE } from "./events.js";

/** @typedef {import("./lanes.js").LaneScene} LaneScene */

/**
 * How far an arena has grown, how far it will, and the break of a naive one.
 * @param {LaneScene} s @param {number} lane @param {{y: number, h: number, top: number}} at
 */
export function edges(s, lane, { y, h, top }) {
  const { c, theme, scale, events } = s;
  const end = scale.x(events.json.lanes[lane].peak);
  c.strokeStyle = theme.muted;
  c.lineWidth = 1;
  c.setLineDash([2, 3]);
  line(c, Math.min(scale.width - 0.5, end), y - 3, y + h + 3);
  c.setLineDash([]);
  if (top > 0) {
    c.fillStyle = theme.text;
    c.fillRect(Math.min(scale.width - 2, scale.x(top) - 1), y - 3, 2, h + 6);
  }
  if (lane === NAIVE && scale.broken) breakMark(s, { y, h });
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y0 @param {number} y1 */
function line(c, x, y0, y1) {
  c.beginPath();
  c.moveTo(x, y0);
  c.lineTo(x, y1);
  c.stroke();
}

/** The axis is cut here. @param {LaneScene} s @param {{y: number, h: number}} at */
function breakMark({ c, theme, scale }, { y, h }) {
  c.fillStyle = theme.bg;
  c.strokeStyle = theme.muted;
  c.lineWidth = 1;
  const zigzag = (/** @type {number} */ x) => {
    const points = [];
    for (let i = 0, yy = y - 4; yy < y + h + 4; i++, yy += 6)
      points.push([x + (i % 2 ? 4 : 0), yy]);
    return points;
  };
  const left = zigzag(scale.main + 2);
  const right = zigzag(scale.main + BREAK_PX - 6);
  c.beginPath();
  for (const [x, yy] of [...left, ...[...right].reverse()]) c.lineTo(x, yy);
  c.fill();
  for (const side of [left, right]) {
    c.beginPath();
    for (const [x, yy] of side) c.lineTo(x, yy);
    c.stroke();
  }
}

/** @param {LaneScene} s */
const marks = ({ scale }) => ticks(scale.edge, scale.main / 76);

/** Faint lines behind the blocks. @param {LaneScene} s @param {{y: number, h: number}} at */
export function grid(s, { y, h }) {
  const { c, theme, scale } = s;
  c.strokeStyle = theme.border;
  c.lineWidth = 1;
  for (const { at } of marks(s)) if (at) line(c, Math.round(scale.x(at)) + 0.5, y, y + h);
}

/** @param {LaneScene} s @param {number} y */
export function axis(s, y) {
  const { c, theme, metrics, scale, events } = s;
  const bound = bytesText(events.json.bound);
  const middle = scale.x(events.json.bound);
  const half = metrics.width(`bound ${bound}`, metrics.fonts.tag) / 2 + 6;
  const right = scale.broken ? bytesText(scale.most) : "";
  const end = scale.width - metrics.width(right, metrics.fonts.edge) - 6;
  c.textBaseline = "alphabetic";
  c.font = metrics.fonts.edge;
  c.strokeStyle = theme.border;
  c.fillStyle = theme.muted;
  c.lineWidth = 1;
  for (const { at, text } of marks(s)) {
    const x = Math.round(scale.x(at)) + 0.5;
    line(c, x, y - 4, y);
    if (Math.abs(x - middle) < half + 10 || (right && x > end - 14)) continue;
    c.textAlign = at === 0 ? "left" : x > scale.width - 12 ? "right" : "center";
    c.fillText(text, x, y + 12);
  }
  c.textAlign = "right";
  c.fillText(right, scale.width, y + 12);
  c.font = metrics.fonts.tag;
  c.fillStyle = theme.primary;
  c.textAlign = "center";
  c.fillText(`bound ${bound}`, Math.min(scale.width - half, Math.max(half, middle)), y + 12);
}

/** No plan needs less than what is alive at once. @param {LaneScene} s @param {{y: number, h: number}} at */
export function boundLine({ c, theme, scale, events }, { y, h }) {
  const x = Math.round(scale.x(events.json.bound)) + 0.5;
  c.strokeStyle = theme.primary;
  c.lineWidth = 1.5;
  c.setLineDash([5, 4]);
  line(c, x, y - 4, y + h + 4);
  c.setLineDash([]);
}
