// @ts-check
// Lines of code linked by the lines of the source that compilers say they are from.

import { h } from "../page/dom.js";

/** @typedef {import("./types.js").GpuData} GpuData */
/** @typedef {import("./types.js").Level} Level */
/** @typedef {import("./types.js").KernelUsage} KernelUsage */

/** @param {GpuData} data @returns {import("./types.js").Links} */
export function sourceLinks(data) {
  return {
    first: ["triton", "ttgir", "ptx"],
    remembered: "passlens-gpu-columns",
    untold: "No tool says which line of the program this is from.",
    lines: (level, nodes) => ({ lines: sameLines(level, nodes), around: false }),
    sentence: (nodes) => sentence(data, nodes),
    legend: () => legend(data),
    table: () => usageTable(data),
  };
}

/**
 * Lines from the same places: a line in a function and its call, where both are told, belong to
 * either and to each other, and to no other call.
 * @param {Level} level @param {number[]} nodes
 */
export function sameLines(level, nodes) {
  const wanted = new Set(nodes);
  const found = [];
  for (let line = 0; line < level.nodes.length; line++) {
    const own = level.nodes[line];
    const shared = own.filter((node) => wanted.has(node)).length;
    if (shared && (shared === own.length || shared === wanted.size)) found.push(line);
  }
  return found;
}

/** @param {GpuData} data @param {number[]} nodes */
function sentence(data, nodes) {
  const source = data.levels[0].texts;
  return nodes.map((node) => `line ${node + 1}: ${(source[node] ?? "").trim()}`).join(" · ");
}

/** @param {GpuData} data */
function legend(data) {
  return h(
    "span.cl-legend",
    h("i.cl-vector", "v"),
    h("span", "several elements in one access"),
    h("span.pl-num", `compiled for ${data.processor}`),
  );
}

/** @type {[string, string, (one: KernelUsage) => number | null][]} */
const COLUMNS = [
  ["registers", "of a thread, as ptxas says", (one) => one.registers],
  ["shared memory", "of a block, as Triton asks for, in bytes", (one) => one.sharedBytes],
  ["stack", "of a thread, in bytes", (one) => one.stackBytes],
  ["spill stores", "to memory, for want of registers, in bytes", (one) => one.spillStoreBytes],
  ["spill loads", "and read back, in bytes", (one) => one.spillLoadBytes],
];

/** @param {number | null} number @param {string} name of the column */
const cell = (number, name) =>
  number === null ? "not said" : name === "registers" ? String(number) : `${number} B`;

/** @param {GpuData} data */
function usageTable(data) {
  if (!data.kernels.length) return null;
  const head = COLUMNS.map(([name, told]) => h("th", { scope: "col", title: told }, name));
  const rows = data.kernels.map((one) =>
    h(
      "tr",
      h("th", { scope: "row" }, one.name),
      COLUMNS.map(([name, , of]) => {
        const bad = name.startsWith("spill") && of(one);
        return h(bad ? "td.cl-bad" : "td", cell(of(one), name));
      }),
    ),
  );
  return h(
    "table.cl-loops",
    h("caption", "What each kernel takes of the GPU"),
    h("thead", h("tr", h("th", { scope: "col" }, "kernel"), head)),
    h("tbody", rows),
  );
}
