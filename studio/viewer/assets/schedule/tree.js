// @ts-check
// A nest as a tree of boxes: what each is called, where it stands, what changed against another nest.

/** @typedef {import("./types.js").NestNode} NestNode */

/**
 * @typedef {object} Box
 * @property {string} key equal in two nests where it is the same box
 * @property {NestNode} node
 * @property {Box | null} around
 * @property {Box[]} inside
 */
/** @typedef {"added" | "changed" | "moved" | ""} Mark */
/** @typedef {{mark: Mark, was: string}} Change against the nest before */
/** @typedef {{x: number, y: number, w: number, h: number}} Place in pixels of the page */

export const ROW = 26; // a line of text in its box
const GAP = 5; // between boxes
const INDENT = 12; // of what is inside, on the left
const INSET = 7; // on the right, and below the last

/** What a box is, in every nest that has it. @param {NestNode} node */
export const keyOf = ({ kind, func, stage, loop }) =>
  kind === "loop" || kind === "compute" ? `${kind} ${func} ${stage} ${loop}` : `${kind} ${func}`;

/** @param {NestNode[]} nodes @returns {Box[]} in the order of the text */
export function boxesOf(nodes) {
  /** @type {Box[]} */
  const around = [];
  return nodes.map((node) => {
    around.length = node.depth;
    const box = { key: keyOf(node), node, around: around.at(-1) ?? null, inside: [] };
    around.at(-1)?.inside.push(box);
    around.push(box);
    return box;
  });
}

/**
 * Where each box stands.
 * @param {Box[]} boxes in the order of the text @param {number} width for the outermost
 * @returns {{places: Map<string, Place>, height: number}}
 */
export function layOut(boxes, width) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @param {Box} box @param {number} x @param {number} y @param {number} w @returns {number} its height */
  const put = (box, x, y, w) => {
    let below = y + ROW;
    for (const one of box.inside) below += put(one, x + INDENT, below, w - INDENT - INSET) + GAP;
    const h = box.inside.length ? below - GAP - y + INSET : ROW;
    places.set(box.key, { x, y, w, h });
    return h;
  };
  let y = 0;
  for (const box of boxes) if (!box.around) y += put(box, 0, y, width) + GAP;
  return { places, height: Math.max(0, y - GAP) };
}

/** The loop that a box is in, for people. @param {Box} box */
function placeName({ around }) {
  if (!around) return "outermost";
  const { kind, func, loop } = around.node;
  return kind === "loop" ? `in ${loop} of ${func}` : `in ${func}`;
}

/**
 * What of a box is not as it was.
 * @param {Box} box @param {Map<string, Box>} before @param {Map<string, Box>} now @returns {Change}
 */
export function changeOf(box, before, now) {
  const old = before.get(box.key);
  if (!old) return { mark: "added", was: "" };
  const [is, then] = [box.node, old.node];
  const was = [];
  if (is.run !== then.run) was.push(RUNS[then.run]);
  if (is.extent !== then.extent) was.push(`${then.extent} rounds`);
  if (is.tail !== then.tail) was.push(then.tail || "no tail");
  if (is.bytes !== then.bytes) was.push(then.shape.join("×") || "1");
  if (was.length) return { mark: "changed", was: was.join(", ") };
  const stays = aroundOf(old, now) === aroundOf(box, before);
  if (box.node.kind !== "compute" && !stays) return { mark: "moved", was: placeName(old) };
  return { mark: "", was: "" };
}

/** The boxes around one that another nest has, too: what is only new around it has not moved it. @param {Box} box @param {Map<string, Box>} other */
function aroundOf({ around }, other) {
  const keys = [];
  for (let up = around; up; up = up.around) if (other.has(up.key)) keys.push(up.key);
  return keys.sort().join();
}

/** How the rounds of a loop run, in words. */
export const RUNS = {
  serial: "one after another",
  parallel: "on all threads",
  vector: "as one vector",
  unrolled: "written out",
  gpu_block: "as thread blocks of a GPU",
  gpu_thread: "as threads of a block",
};

/**
 * Boxes that are gone.
 * @param {Map<string, Box>} before @param {Map<string, Box>} now @returns {string[]} their names
 */
export function goneFrom(before, now) {
  const gone = [...before.values()].filter(
    ({ key, node }) => !now.has(key) && node.kind !== "compute",
  );
  return gone.map(({ node }) =>
    node.kind === "loop" ? `loop ${node.loop} of ${node.func}` : `${node.kind} ${node.func}`,
  );
}

/** @param {NestNode[]} nodes @returns {Map<string, Box>} */
export const byKey = (nodes) => new Map(boxesOf(nodes).map((box) => [box.key, box]));
