// @ts-check
// Three allocators on one axis of addresses: what is alive as blocks, what is held and unused
// hatched, how far each has grown.

import { axis, boundLine, edges, grid } from "./draw-axis.js";
import { block, deadBlocks, freeBlocks, hatch, ring } from "./draw-block.js";
import { drawText } from "../canvas/pen.js";
import { bytesText, timesText } from "../page/numbers.js";
import { AXIS, GAP, HEAD } from "./scale.js";
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
