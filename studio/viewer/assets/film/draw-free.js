// @ts-check
// What an arena holds and does not use; of the lazy one, its free blocks.

import { bytesText } from "../page/numbers.js";
import { NAIVE } from "./events.js";

/** @typedef {import("./lanes.js").LaneScene} LaneScene */

/** Held and unused. @param {LaneScene} s @param {{x: number, y: number, w: number, h: number}} r */
export function hatch(s, { x, y, w, h }) {
  if (w < 0.5) return;
  const { c, theme } = s;
  c.save();
  c.beginPath();
  c.rect(x, y, w, h);
  c.clip();
  c.fillStyle = theme.panel;
  c.fillRect(x, y, w, h);
  c.strokeStyle = theme.border;
  c.lineWidth = 1;
  c.beginPath();
  for (let i = x - h - ((x - h) % 7); i < x + w; i += 7) {
    c.moveTo(i, y + h);
    c.lineTo(i + h, y);
  }
  c.stroke();
  c.restore();
}

/** What naive keeps though nobody needs it. @param {LaneScene} s @param {{y: number, h: number}} at */
export function deadBlocks(s, { y, h }) {
  const { c, theme, scale, events, replay } = s;
  c.globalAlpha = 0.45;
  for (let b = 0; b < events.size.length; b++) {
    if (events.died[b] > replay.at) continue;
    const x = scale.x(events.offsets[NAIVE][b]);
    const w = scale.x(events.offsets[NAIVE][b] + events.size[b]) - x;
    if (w < 2) continue;
    const rec = events.json.nodes[events.json.buffers.node[b]];
    c.strokeStyle = theme.category(rec?.[3] ?? "unknown").edge;
    c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  c.globalAlpha = 1;
}

/** Free blocks of the lazy allocator, as its list has them. @param {LaneScene} s @param {{y: number, h: number}} at */
export function freeBlocks(s, { y, h }) {
  const { c, theme, scale, events, replay } = s;
  const { event, t } = s.moment;
  const removed = event > 0 ? events.removed(event) : [];
  const added = event > 0 ? events.added(event) : [];
  const changing = new Set([...removed, ...added].map((f) => f.offset));
  const frame = (
    /** @type {import("./events.js").Free} */ f,
    /** @type {number} */ alpha,
    /** @type {boolean} */ now,
  ) => {
    const x = scale.x(f.offset);
    const w = scale.x(f.offset + f.size) - x;
    c.globalAlpha = alpha;
    c.strokeStyle = now ? theme.match : theme.faint;
    c.lineWidth = now ? 2 : 1;
    c.setLineDash(now ? [] : [3, 3]);
    c.strokeRect(x + 1, y + 1, Math.max(1, w - 2), h - 2);
    c.setLineDash([]);
    c.globalAlpha = 1;
    if (w < 52) return;
    c.globalAlpha = alpha;
    freeLabel(s, f, { x, y, w, h });
    c.globalAlpha = 1;
  };
  for (const [offset, size] of replay.free)
    if (!changing.has(offset)) frame({ offset, size }, 1, false);
  for (const f of removed) if (t < 1) frame(f, 1 - t, false);
  for (const f of added) frame(f, t, true);
}

/** @param {LaneScene} s @param {import("./events.js").Free} f @param {{x: number, y: number, w: number, h: number}} r */
function freeLabel({ c, theme, metrics }, f, { x, y, w, h }) {
  const text = `free ${bytesText(f.size)}`;
  const wide = metrics.width(text, metrics.fonts.edge);
  if (wide > w - 10) return;
  c.fillStyle = theme.panel;
  c.fillRect(x + w / 2 - wide / 2 - 3, y + h / 2 - 7, wide + 6, 14);
  c.font = metrics.fonts.edge;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillStyle = theme.muted;
  c.fillText(text, x + w / 2, y + h / 2 + 0.5);
}
