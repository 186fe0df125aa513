// @ts-check
// What the instructions of each loop are.

import { h } from "../page/dom.js";

/** @typedef {import("./types.js").LoopCode} LoopCode */
/** @typedef {import("./types.js").CodeData} CodeData */

/** @type {[string, string, (loop: LoopCode) => string][]} */
const COLUMNS = [
  [
    "instructions",
    "of the loop without those of the loops in it",
    (one) => String(one.instructions),
  ],
  ["vectors", "the widest", (one) => (one.bits ? `${one.bits} bit` : "")],
  ["on vectors", "instructions on vectors", (one) => count(one.vectors)],
  ["scalar", "on one number in a vector register", (one) => count(one.scalar)],
  ["FMA", "a product and a sum in one", (one) => count(one.fma)],
  ["gathers", "loads from places of their own", (one) => count(one.gather)],
  ["calls", "of other functions", (one) => count(one.calls)],
  ["spills", "registers written to the stack", (one) => moved(one.spills, one.spilledBytes)],
  ["reloads", "and read back", (one) => moved(one.reloads, one.reloadedBytes)],
];

/** @param {number} n */
const count = (n) => (n ? String(n) : "");

/** @param {number} times @param {number} bytes */
const moved = (times, bytes) => (times ? `${times} · ${bytes} B` : "");

/**
 * @param {CodeData} data
 * @param {(node: number) => void} look at a loop
 * @param {() => void} leave
 * @param {(node: number) => void} pin
 */
export function loopsTable(data, look, leave, pin) {
  const head = COLUMNS.map(([name, told]) => h("th", { scope: "col", title: told }, name));
  const rows = data.loops.map((loop) => {
    const name = loop.node < 0 ? "in no loop" : data.names[loop.node];
    const act = h(
      "button",
      { disabled: loop.node < 0, onclick: () => pin(loop.node), onfocus: () => look(loop.node) },
      name,
    );
    act.style.marginLeft = `${8 * Math.max(0, data.depths[loop.node] ?? 0)}px`;
    const cells = COLUMNS.map(([title, , text]) =>
      h(title === "spills" && loop.spills ? "td.cl-bad" : "td", text(loop)),
    );
    const over = () => loop.node >= 0 && look(loop.node);
    return h(
      "tr",
      { onpointerenter: over, onpointerleave: leave },
      h("th", { scope: "row" }, act),
      cells,
    );
  });
  return h(
    "table.cl-loops",
    h("caption", "Instructions of each loop, without those of the loops in it"),
    h("thead", h("tr", h("th", { scope: "col" }, "loop"), head)),
    h("tbody", rows),
  );
}

/** A loop in one sentence. @param {CodeData} data @param {number} node */
export function loopSentence(data, node) {
  const loop = data.loops.find((one) => one.node === node);
  const name = data.names[node];
  if (!data.loops.length) return name;
  if (!loop) return `${name}: no instructions of its own, they are in the loops in it or around it`;
  const parts = [`${loop.instructions} instructions`];
  if (loop.vectors) parts.push(`${loop.vectors} on vectors, the widest of ${loop.bits} bits`);
  if (loop.scalar) parts.push(`${loop.scalar} on single numbers`);
  if (loop.calls) parts.push(loop.calls === 1 ? "1 call" : `${loop.calls} calls`);
  parts.push(loop.spills ? `${loop.spills} spills, ${loop.reloads} reloads` : "no spills");
  return `${name}: ${parts.join(", ")}`;
}
