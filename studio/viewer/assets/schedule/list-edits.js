// @ts-check
// Edits of a list of primitives. Each gives a new list; the old one stays as it is.

import { textOf } from "./kinds.js";

/** @typedef {import("./types.js").Draft} Draft */
/** @typedef {import("./types.js").Primitive} Primitive */

/** After how many that are on one stands at a row. @param {Draft} draft @param {number} row */
export const stepOf = ({ off }, row) => row + 1 - off.filter((at) => at <= row).length;

/** @param {Draft} draft @param {number} row switched on or off */
export function switched(draft, row) {
  const off = draft.off.includes(row)
    ? draft.off.filter((at) => at !== row)
    : [...draft.off, row].sort((a, b) => a - b);
  return { ...draft, off };
}

/** @param {Draft} draft @param {number} row */
export const without = (draft, row) =>
  arranged(
    draft,
    [...draft.primitives.keys()].filter((at) => at !== row),
  );

/** @param {Draft} draft @param {number} from @param {number} to its place among all */
export function moved(draft, from, to) {
  const order = [...draft.primitives.keys()].filter((at) => at !== from);
  order.splice(to, 0, from);
  return arranged(draft, order);
}

/** @param {Draft} draft @param {number} row the first new one's @param {Primitive[]} added */
export function inserted({ primitives, texts, off }, row, added) {
  return {
    primitives: primitives.toSpliced(row, 0, ...added),
    texts: texts.toSpliced(row, 0, ...added.map(textOf)),
    off: off.map((at) => (at < row ? at : at + added.length)),
  };
}

/** @param {Draft} draft @param {number[]} order rows of the old list */
function arranged({ primitives, texts, off }, order) {
  return {
    primitives: order.map((at) => primitives[at]),
    texts: order.map((at) => texts[at]),
    off: order.map((at, now) => (off.includes(at) ? now : -1)).filter((now) => now >= 0),
  };
}
