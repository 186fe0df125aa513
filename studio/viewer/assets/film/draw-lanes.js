// @ts-check
// Three allocators on one axis of addresses: what is alive as blocks, what is held and unused
// hatched, how far each has grown, and the bound.

import { block, deadBlocks, freeBlocks, hatch, ring } from "./draw-block.js";
import { drawText, path, vertical } from "../canvas/pen.js";
import { bytesText, timesText } from "../page/numbers.js";
import { AXIS, BREAK_PX, GAP, HEAD, ticks } from "./scale.js";
import { LAZY, NAIVE } from "./events.js";

/** @typedef {{buffer: number, x: number, y: number, w: number, h: number, lane: number}} Hit */

/**
 * @typedef {object} LaneScene
 * @property {CanvasRenderingContext2D} c
 * @property {number} width @property {number} height
 * @property {Theme} theme
 * @property {Metrics} metrics
 * @property {AllocatorEvents} events @property {Replay} replay
 * @property {import("./scale.js").Scale} scale
 * @property {{event: number, t: number}} moment
 * @property {number} hover buffer or -1
 */

/** @param {LaneScene} s @returns {Hit[]} where every block was drawn */
export function drawLanes(s) {
  const { c, width, height, theme, events } = s;
  c.fillStyle = theme.bg;
  c.fillRect(0, 0, width, height);
  /** @type {Hit[]} */
  const hits = [];
  const body = (height - AXIS - events.offsets.length * (HEAD + GAP)) / events.offsets.length;
  for (let lane = 0; lane < events.offsets.length; lane++) {
    const y = lane * (HEAD + GAP + body) + HEAD;
    head(s, lane, y - HEAD);
    drawLane(s, lane, { y, h: body }, hits);
  }
  axis(s, height - AXIS);
  return hits;
}

/** Size of an arena at the moment that is drawn. @param {LaneScene} s @param {number} lane */
function high(s, lane) {
  const { event, t } = s.moment;
  const highs = s.events.highs[lane];
  const before = highs[Math.max(0, event - 1)];
  return before + (highs[event] - before) * t;
}

/** @param {LaneScene} s @param {number} lane @param {number} y */
function head({ c, theme, metrics, events, replay, width }, lane, y) {
  const { op, group, brief } = metrics.fonts;
  const info = events.json.lanes[lane];
  const title = LANE_TITLES[lane] ?? info.title;
  const words = `${bytesText(events.highs[lane][replay.at])} of ${bytesText(info.peak)}`;
  const times = events.json.bound ? info.peak / events.json.bound : 1;
  const proof = info.certificate ? "the minimum, proven" : `${timesText(times)} the bound`;
  const used = metrics.width(title, op) + 10;
  const proofWidth = metrics.width(proof, brief);
  const room = width - used - proofWidth - 24 - metrics.width(` ${words}`, group);
  const write = (
    /** @type {string} */ text,
    /** @type {number} */ x,
    /** @type {{font: string, colour: string, align?: CanvasTextAlign}} */ style,
  ) => drawText(c, text, x, y + 14, { ...style, baseline: "alphabetic" });
  const colour = info.certificate ? theme.add : theme.muted;
  write(title, 0, { font: op, colour: theme.text });
  write(proof, width, { font: brief, colour, align: "right" });
  write(words, width - proofWidth - 10, { font: group, colour: theme.text, align: "right" });
  write(metrics.fit(LANE_WORDS[lane], brief, room), used, { font: brief, colour: theme.muted });
}

const LANE_TITLES = ["Naive", "Lazy", "Best"];
const LANE_WORDS = [
  "every buffer has a block of its own, never used again",
  "the smallest free block that fits, as the run goes on",
  "planned with all lifetimes known beforehand",
];

/**
 * @param {LaneScene} s @param {number} lane @param {{y: number, h: number}} at @param {Hit[]} hits
 */
function drawLane(s, lane, { y, h }, hits) {
  const { c, theme, scale, events, replay } = s;
  const { event, t } = s.moment;
  const top = high(s, lane);
  c.fillStyle = theme.nest[0];
  c.fillRect(0, y, scale.broken && lane !== NAIVE ? scale.main : scale.width, h);
  hatch(s, { x: 0, y, w: scale.x(top), h });
  grid(s, { y, h });
  if (lane === NAIVE) deadBlocks(s, { y, h });
  if (lane === LAZY) freeBlocks(s, { y, h });
  const current = event > 0 ? events.buffer[event - 1] : -1;
  c.save();
  c.beginPath();
  c.rect(-2, y - 2, scale.width + 4, h + 4); // what drops in comes from behind the words
  c.clip();
  for (const b of replay.live) if (b !== current) block(s, lane, b, { y, h, alpha: 1 }, hits);
  if (current >= 0) {
    const alpha = events.comes(event) ? t : 1 - t;
    const drop = events.comes(event) ? (1 - t) * -(h * 0.7) : 0;
    if (alpha > 0.01) block(s, lane, current, { y: y + drop, h, alpha }, hits);
    ring(s, lane, current, { y: y + drop, h, alpha: events.comes(event) ? alpha : 1 });
  }
  c.restore();
  boundLine(s, { y, h });
  edges(s, lane, { y, h, top });
}

/**
 * How far an arena has grown, how far it will, and the break of a naive one.
 * @param {LaneScene} s @param {number} lane @param {{y: number, h: number, top: number}} at
 */
function edges(s, lane, { y, h, top }) {
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
function grid(s, { y, h }) {
  const { c, theme, scale } = s;
  c.strokeStyle = theme.border;
  c.lineWidth = 1;
  for (const { at } of marks(s)) if (at) vertical(c, Math.round(scale.x(at)) + 0.5, y, y + h);
}

/** @param {LaneScene} s @param {number} y */
function axis(s, y) {
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
function boundLine({ c, theme, scale, events }, { y, h }) {
  const x = Math.round(scale.x(events.json.bound)) + 0.5;
  c.strokeStyle = theme.primary;
  c.lineWidth = 1.5;
  c.setLineDash([5, 4]);
  vertical(c, x, y - 4, y + h + 4);
  c.setLineDash([]);
}
