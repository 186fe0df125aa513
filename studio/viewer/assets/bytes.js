// @ts-check
// Bytes in words, and the scale on which all allocators are drawn.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const BREAK_FROM = 1.6; // an axis that long shows everything; beyond, it breaks
const MAIN_PART = 0.8; // of the width, before the break
export const BREAK_PX = 16;

/** @param {number} bytes @returns {number} power of 1024 */
function power(bytes) {
  let p = 0;
  for (let v = bytes; v >= 1023.5 && p < UNITS.length - 1; v /= 1024) p++;
  return p;
}

/** Three significant digits: 3211264 -> "3.06 MiB". @param {number} bytes */
export function bytesText(bytes) {
  const p = power(bytes);
  const v = bytes / 1024 ** p;
  if (p === 0) return `${Math.round(v)} B`;
  return `${v >= 100 ? Math.round(v) : Number(v.toPrecision(3))} ${UNITS[p]}`;
}

/** How many times as much: 1.234 -> "1.23×". @param {number} times */
export function timesText(times) {
  return `${times >= 100 ? Math.round(times) : times.toPrecision(3)}×`;
}

/**
 * Round addresses up to an edge, in a unit that all of them share.
 * @param {number} edge bytes @param {number} most how many there is room for
 * @returns {{at: number, text: string}[]}
 */
export function ticks(edge, most) {
  const p = power(edge);
  const unit = 1024 ** p;
  const raw = edge / unit / Math.max(1, most);
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = ten * ([1, 2, 5, 10].find((m) => m * ten >= raw * 0.999) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const list = [];
  for (let i = 0; i * step * unit <= edge * 1.0001; i++)
    list.push({ at: i * step * unit, text: `${(i * step).toFixed(digits)}` });
  if (list.length) list[0].text = `0 ${UNITS[p]}`;
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
