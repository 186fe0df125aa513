// @ts-check
// What an event of the allocator means, in one line.

import { bytesText } from "../page/numbers.js";

/** @typedef {{text: string, strong?: boolean}} Part */

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

/**
 * What happened, in parts; those marked strong are names and sizes.
 * @param {AllocatorEvents} events @param {number} k @returns {Part[]}
 */
export function parts(events, k) {
  if (k < 1) {
    const tensors = events.size.length.toLocaleString("en");
    return [{ text: `Nothing is allocated yet. ${tensors} buffers will come and go.` }];
  }
  const b = events.buffer[k - 1];
  const who = { text: shortName(nodeName(events, events.nodeAt(k))), strong: true };
  const size = { text: bytesText(events.size[b]), strong: true };
  if (!events.comes(k)) return [who, ...released(events, k, size)];
  return [who, { text: " asks for " }, size, { text: " → " }, ...answered(events, k)];
}

/** @param {AllocatorEvents} events @param {number} k */
function answered(events, k) {
  const taken = events.removed(k)[0];
  const arena = strong(bytesText(events.peak[k]));
  const none =
    events.used[k - 1] === events.peak[k - 1] ? "nothing is free" : "no free block is large enough";
  switch (events.kindOf(k)) {
    case "reuse":
      return [
        plain("the free block at "),
        strong(bytesText(taken.offset)),
        plain(" fits exactly: used again"),
      ];
    case "split":
      return [
        plain("best fit is the free block at "),
        strong(bytesText(taken.offset)),
        plain(
          ` (${bytesText(taken.size)}): split, ${bytesText(events.added(k)[0].size)} stay free`,
        ),
      ];
    case "grow":
      return [
        plain(
          `no free block is large enough; the one at the end (${bytesText(taken.size)}) is extended, the arena becomes `,
        ),
        arena,
      ];
    default:
      return [plain(`${none}: it goes to the end, the arena becomes `), arena];
  }
}

/** @param {AllocatorEvents} events @param {number} k @param {Part} size */
function released(events, k, size) {
  const maker = events.json.buffers.node[events.buffer[k - 1]];
  const own = maker === events.nodeAt(k) || maker < 0;
  const whose = `was the last to read the output of ${shortName(nodeName(events, maker), 28)}`;
  const start = plain(own ? " has run, nobody reads its output: " : ` ${whose}: `);
  const place = plain(` at ${bytesText(events.offset[k - 1])} are free`);
  const removed = events.removed(k);
  if (!removed.length) return [start, size, place];
  const beside = removed.length === 1 ? "the free block beside" : "the free blocks on both sides";
  const total = strong(bytesText(events.added(k)[0].size));
  return [start, size, place, plain(`, joined with ${beside}: `), total, plain(" in one piece")];
}

/** @param {string} text @returns {Part} */
const strong = (text) => ({ text, strong: true });
/** @param {string} text @returns {Part} */
const plain = (text) => ({ text });

/** @param {AllocatorEvents} events @param {number} k */
export const sentence = (events, k) =>
  `${parts(events, k)
    .map((p) => p.text)
    .join("")}.`;
