// @ts-check
// What an event of the allocator means, in one line.

import { bytesText } from "../page/numbers.js";

/** @typedef {string | {strong: string}} Part names and sizes are strong */

const LONGEST = 38;

/** The end of a long name says more than its beginning. @param {string} name */
export function shortName(name, most = LONGEST) {
  if (name.length <= most) return name;
  const tail = name.slice(-(most - 1));
  const cut = tail.indexOf("/");
  return `…${cut > 0 && cut < most / 2 ? tail.slice(cut) : tail}`;
}

/** @param {AllocatorEvents} events @param {number} node place in the run @returns {string} */
export function nodeName(events, node) {
  const rec = events.json.nodes[node];
  if (!rec) return "";
  return rec[1] || `${rec[2]} at step ${node + 1}`;
}

/** What happened, in parts. @param {AllocatorEvents} events @param {number} k @returns {Part[]} */
export function parts(events, k) {
  if (k < 1) {
    const tensors = events.size.length.toLocaleString("en");
    return [`Nothing is allocated yet. ${tensors} buffers will come and go.`];
  }
  const who = { strong: shortName(nodeName(events, events.nodeAt(k))) };
  const size = { strong: bytesText(events.size[events.buffer[k - 1]]) };
  if (!events.comes(k)) return [who, ...released(events, k, size)];
  return [who, " asks for ", size, " → ", ...answered(events, k)];
}

/** @param {AllocatorEvents} events @param {number} k @returns {Part[]} */
function answered(events, k) {
  const { peak, used } = events;
  const taken = events.removed(k)[0];
  const arena = { strong: bytesText(peak[k]) };
  const place = { strong: taken ? bytesText(taken.offset) : "" };
  const size = taken ? bytesText(taken.size) : "";
  const none = used[k - 1] === peak[k - 1] ? "nothing is free" : "no free block is large enough";
  switch (events.kindOf(k)) {
    case "reuse":
      return ["the free block at ", place, " fits exactly: used again"];
    case "split": {
      const rest = bytesText(events.added(k)[0].size);
      return ["best fit is the free block at ", place, ` (${size}): split, ${rest} stay free`];
    }
    case "grow": {
      const last = `no free block is large enough; the one at the end (${size}) is extended`;
      return [`${last}, the arena becomes `, arena];
    }
    default:
      return [`${none}: it goes to the end, the arena becomes `, arena];
  }
}

/** @param {AllocatorEvents} events @param {number} k @param {Part} size @returns {Part[]} */
function released(events, k, size) {
  const maker = events.json.buffers.node[events.buffer[k - 1]];
  const own = maker === events.nodeAt(k) || maker < 0;
  const whose = `was the last to read the output of ${shortName(nodeName(events, maker), 28)}`;
  const start = own ? " has run, nobody reads its output: " : ` ${whose}: `;
  const place = ` at ${bytesText(events.offset[k - 1])} are free`;
  const removed = events.removed(k);
  if (!removed.length) return [start, size, place];
  const beside = removed.length === 1 ? "the free block beside" : "the free blocks on both sides";
  const total = { strong: bytesText(events.added(k)[0].size) };
  return [start, size, `${place}, joined with ${beside}: `, total, " in one piece"];
}

/** @param {AllocatorEvents} events @param {number} k */
export const sentence = (events, k) =>
  `${parts(events, k)
    .map((part) => (typeof part === "string" ? part : part.strong))
    .join("")}.`;
