// @ts-check
// The axis that all lanes share, the bound, and how far each arena has grown.

import { BREAK_PX, ticks } from "./scale.js";
import { drawText, path, vertical } from "../canvas/pen.js";
import { bytesText } from "../page/numbers.js";
import { NAIVE } from "./events.js";

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
  vertical(c, Math.min(scale.width - 0.5, end), y - 3, y + h + 3);
  c.setLineDash([]);
  if (top > 0) {
    c.fillStyle = theme.text;
    c.fillRect(Math.min(scale.width - 2, scale.x(top) - 1), y - 3, 2, h + 6);
  }
  if (lane === NAIVE && scale.broken) breakMark(s, { y, h });
}

/** The axis is cut here. @param {LaneScene} s @param {{y: number, h: number}} at */
function breakMark({ c, theme, scale }, { y, h }) {
  c.fillStyle = theme.bg;
  c.strokeStyle = theme.muted;
  c.lineWidth = 1;
  /** @param {number} x @returns {[number, number][]} */
  const zigzag = (x) =>
    Array.from({ length: Math.ceil((h + 8) / 6) }, (_, i) => [x + (i % 2 ? 4 : 0), y - 4 + i * 6]);
  const left = zigzag(scale.main + 2);
  const right = zigzag(scale.main + BREAK_PX - 6);
  path(c, ...left.flat(), ...right.toReversed().flat());
  c.fill();
  for (const side of [left, right]) {
    path(c, ...side.flat());
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
  for (const { at } of marks(s)) if (at) vertical(c, Math.round(scale.x(at)) + 0.5, y, y + h);
}

/** @param {LaneScene} s @param {number} y */
export function axis(s, y) {
  const { c, theme, metrics, scale, events } = s;
  const { tag, edge } = metrics.fonts;
  const bound = `bound ${bytesText(events.json.bound)}`;
  const middle = scale.x(events.json.bound);
  const half = metrics.width(bound, tag) / 2 + 6;
  const right = scale.broken ? bytesText(scale.most) : "";
  const end = scale.width - metrics.width(right, edge) - 6;
  const write = (
    /** @type {string} */ text,
    /** @type {number} */ x,
    /** @type {CanvasTextAlign} */ align,
    style = { font: edge, colour: theme.muted },
  ) => drawText(c, text, x, y + 12, { ...style, align, baseline: "alphabetic" });
  c.strokeStyle = theme.border;
  c.lineWidth = 1;
  for (const { at, text } of marks(s)) {
    const x = Math.round(scale.x(at)) + 0.5;
    vertical(c, x, y - 4, y);
    if (Math.abs(x - middle) < half + 10 || (right && x > end - 14)) continue;
    write(text, x, at === 0 ? "left" : x > scale.width - 12 ? "right" : "center");
  }
  write(right, scale.width, "right");
  const x = Math.min(scale.width - half, Math.max(half, middle));
  write(bound, x, "center", { font: tag, colour: theme.primary });
}

/** No plan needs less than what is alive at once. @param {LaneScene} s @param {{y: number, h: number}} at */
export function boundLine({ c, theme, scale, events }, { y, h }) {
  const x = Math.round(scale.x(events.json.bound)) + 0.5;
  c.strokeStyle = theme.primary;
  c.lineWidth = 1.5;
  c.setLineDash([5, 4]);
  vertical(c, x, y - 4, y + h + 4);
  c.setLineDash([]);
}
