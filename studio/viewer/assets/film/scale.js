// @ts-check
// The scale on which all allocators are drawn.

import { bytesPower, bytesUnit } from "../page/numbers.js";

export const HEAD = 21; // the line of words above a lane
export const GAP = 10; // below a lane
export const AXIS = 18;
const BREAK_FROM = 1.6; // an axis that long shows everything; beyond, it breaks
const MAIN_PART = 0.8; // of the width, before the break
export const BREAK_PX = 16;

/**
 * Round addresses up to an edge, in a unit that all of them share.
 * @param {number} edge bytes @param {number} most how many there is room for
 * @returns {{at: number, text: string}[]}
 */
export function ticks(edge, most) {
  const p = bytesPower(edge);
  const unit = 1024 ** p;
  const raw = edge / unit / Math.max(1, most);
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = ten * ([1, 2, 5, 10].find((m) => m * ten >= raw * 0.999) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const list = [];
  for (let i = 0; i * step * unit <= edge * 1.0001; i++)
    list.push({ at: i * step * unit, text: `${(i * step).toFixed(digits)}` });
  if (list.length) list[0].text = `0 ${bytesUnit(p)}`;
  return list;
}

/**
 * @typedef {object} Scale from addresses to pixels
 * @property {number} edge the last address on the common axis
 * @property {number} main pixels of the common axis
 * @property {number} width pixels of everything
 * @property {boolean} broken whether naive goes on beyond a break, on a scale of its own
 * @property {number} most the last address of all
 * @property {(bytes: number) => number} x
 */

/**
 * One axis for all. Where naive is much larger, the axis ends where the others do, and naive goes
 * on beyond a break, compressed.
 * @param {number[]} peaks of naive, lazy, best @param {number} width @returns {Scale}
 */
export function makeScale([naive, lazy, best], width) {
  const others = Math.max(lazy, best, 1);
  const broken = naive > others * BREAK_FROM;
  const edge = broken ? others * 1.06 : Math.max(naive, others);
  const main = broken ? width * MAIN_PART : width;
  const rest = Math.max(1, width - main - BREAK_PX);
  const most = Math.max(naive, edge);
  const x = (/** @type {number} */ bytes) =>
    bytes <= edge || !broken
      ? (bytes / edge) * main
      : main + BREAK_PX + ((bytes - edge) / (most - edge)) * rest;
  return { edge, main, width, broken, most, x };
}
