// @ts-check
// What an event of the allocator means, in one line.

import { bytesText } from "./bytes.js";

/** @typedef {import("./reel.js").Reel} Reel */

const LONGEST = 38;

/** The end of a long name says more than its beginning. @param {string} name */
export function shortName(name, most = LONGEST) {
  if (name.length <= most) return name;
  const tail = name.slice(-(most - 1));
  const cut = tail.indexOf("/");
  return `…${cut > 0 && cut < most / 2 ? tail.slice(cut) : tail}`;
}

/** @param {Reel} reel @param {number} node place in the run @returns {string} */
export function nodeName(reel, node) {
  const rec = reel.json.nodes[node];
  if (!rec) return "";
  return rec[1] || `${rec[2]} at step ${node + 1}`;
}

/**
 * What happened, in parts; those marked strong are names and sizes.
 * @param {Reel} reel @param {number} k @returns {{text: string, strong?: boolean}[]}
 */
export function parts(reel, k) {
  if (k < 1) {
    const tensors = reel.size.length.toLocaleString("en");
    return [{ text: `Nothing is allocated yet. ${tensors} buffers will come and go.` }];
  }
  const b = reel.buffer[k - 1];
  const who = { text: shortName(nodeName(reel, reel.nodeAt(k))), strong: true };
  const size = { text: bytesText(reel.size[b]), strong: true };
  if (!reel.comes(k)) return [who, ...released(reel, k, size)];
  return [who, { text: " asks for " }, size, { text: " → " }, ...answered(reel, k)];
}

/** @param {Reel} reel @param {number} k */
function answered(reel, k) {
  const removed = reel.removed(k)[0];
  const place = removed ? bytesText(removed.offset) : "";
  const arena = bytesText(reel.peak[k]);
  switch (reel.kindOf(k)) {
    case "reuse":
      return [{ text: "the free block at " }, strong(place), { text: " fits exactly: " }, did("reuse")];
    case "split": {
      const rest = bytesText(reel.added(k)[0].size);
      return [
        { text: "best fit is the free block at " },
        strong(place),
        { text: ` (${bytesText(removed.size)}): ` },
        did("split"),
        { text: `, ${rest} stay free` },
      ];
    }
    case "grow":
      return [
        { text: "no free block is large enough; the one at the end, " },
        strong(bytesText(removed.size)),
        { text: ", is extended: " },
        did("grow"),
        { text: ` to ${arena}` },
      ];
    default:
      return [
        { text: "no free block is large enough: " },
        did("allocate"),
        { text: ` at the end, the arena is ${arena} now` },
      ];
  }
}

/** @param {Reel} reel @param {number} k @param {{text: string, strong?: boolean}} size */
function released(reel, k, size) {
  const b = reel.buffer[k - 1];
  const maker = reel.json.buffers.node[b];
  const place = bytesText(reel.offset[k - 1]);
  const own = maker === reel.nodeAt(k) || maker < 0;
  const whose = own ? "its own output" : `the output of ${shortName(nodeName(reel, maker), 28)}`;
  const start = own
    ? { text: " has run and nobody reads its output: " }
    : { text: ` was the last to read ${whose}: ` };
  const removed = reel.removed(k);
  if (!removed.length)
    return [start, size, { text: ` at ${place} are free again: ` }, did("free")];
  const joined = removed.length === 1 ? "the free block beside" : "the free blocks on both sides";
  const total = bytesText(reel.added(k)[0].size);
  return [start, size, { text: ` join ${joined}, ${total} in one piece: ` }, did("merge")];
}

/** @param {string} text */
const strong = (text) => ({ text, strong: true });
/** @param {string} text */
const did = (text) => ({ text, strong: true });

/** @param {Reel} reel @param {number} k */
export const sentence = (reel, k) =>
  `${parts(reel, k)
    .map((p) => p.text)
    .join("")}.`;
