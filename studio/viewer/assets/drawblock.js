// @ts-check
// A buffer as a block in a lane, and the ring around the one that comes or goes.

import { bytesText } from "./bytes.js";
import { shortName } from "./filmwords.js";

/** @typedef {import("./lanes.js").LaneScene} LaneScene */
/** @typedef {import("./lanes.js").Hit} Hit */

const LEAST = 1.5; // pixels of a block, however small
const CAP = 4;

/**
 * @param {LaneScene} s @param {number} lane @param {number} b
 * @param {{y: number, h: number, alpha: number}} at @param {Hit[]} hits
 */
export function block(s, lane, b, { y, h, alpha }, hits) {
  const { c, theme, scale, reel } = s;
  const from = reel.offsets[lane][b];
  const x = scale.x(from);
  const w = Math.max(LEAST, scale.x(from + reel.size[b]) - x);
  const rec = reel.json.nodes[reel.json.buffers.node[b]];
  const colours = theme.category(rec?.[3] ?? "unknown");
  const gap = w > 4 ? 0.5 : 0;
  c.globalAlpha = alpha;
  c.fillStyle = theme.bg;
  c.fillRect(x, y, w, h);
  c.fillStyle = w < 5 ? colours.solid : colours.tint;
  c.fillRect(x + gap, y + 0.5, w - 2 * gap, h - 1);
  c.fillStyle = colours.solid;
  c.fillRect(x + gap, y + 0.5, w - 2 * gap, CAP);
  if (w >= 5) {
    c.strokeStyle = s.hover === b ? theme.primary : colours.edge;
    c.lineWidth = s.hover === b ? 2 : 1;
    c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  label(s, b, { x, y: y + CAP, w, h: h - CAP });
  c.globalAlpha = 1;
  hits.push({ buffer: b, x, y, w: Math.max(w, 3), h, lane });
}

/** @param {LaneScene} s @param {number} b @param {{x: number, y: number, w: number, h: number}} r */
function label(s, b, { x, y, w, h }) {
  const { c, theme, metrics, reel } = s;
  if (w < 34 || h < 14) return;
  const rec = reel.json.nodes[reel.json.buffers.node[b]];
  const two = h >= 30;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.font = metrics.fonts.edge;
  const last = shortName((rec?.[1] || rec?.[2] || reel.json.buffers.name[b]).split("/").pop() ?? "");
  const name = metrics.fit(last, metrics.fonts.tag, w - 9);
  c.font = metrics.fonts.tag;
  c.fillStyle = theme.text;
  c.fillText(name, x + 5, y + (two ? h / 2 - 7 : h / 2));
  const size = bytesText(reel.size[b]);
  if (!two || metrics.width(size, metrics.fonts.edge) > w - 9) return;
  c.font = metrics.fonts.edge;
  c.fillStyle = theme.muted;
  c.fillText(size, x + 5, y + h / 2 + 7);
}

/** The block that comes or goes. @param {LaneScene} s @param {number} lane @param {number} b @param {{y: number, h: number, alpha: number}} at */
export function ring(s, lane, b, { y, h, alpha }) {
  const { c, theme, scale, reel } = s;
  const x = scale.x(reel.offsets[lane][b]);
  const w = Math.max(LEAST, scale.x(reel.offsets[lane][b] + reel.size[b]) - x);
  c.globalAlpha = alpha;
  c.strokeStyle = theme.match;
  c.lineWidth = 2.5;
  if (!reel.comes(s.moment.event)) c.setLineDash([5, 3]);
  c.strokeRect(x + 0.25, y + 1.25, Math.max(1, w - 0.5), h - 2.5);
  c.setLineDash([]);
  c.globalAlpha = 1;
}

