// @ts-check
// What several steps changed together, in words.

import { noun, signed } from "../page/numbers.js";

/** @typedef {{nodes?: number, flops?: number, bytes?: number}} Delta */

/**
 * Amounts that are not zero, and what each counts.
 * @param {Delta[]} deltas @returns {[string, string][]}
 */
export function savings(deltas) {
  const sum = (/** @type {keyof Delta} */ what) =>
    deltas.reduce((total, d) => total + (d[what] ?? 0), 0);
  const [nodes, flops, bytes] = [sum("nodes"), sum("flops"), sum("bytes")];
  /** @type {[string, string][]} */
  const list = [];
  if (nodes) list.push([signed(nodes, ""), noun(nodes, "node")]);
  if (flops) list.push([signed(flops, "FLOP"), "computed"]);
  if (bytes) list.push([signed(bytes, "B"), "moved"]);
  return list;
}
