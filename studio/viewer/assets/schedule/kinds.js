// @ts-check
// The kinds of primitives: what each asks for, and how it is written. Fields have the names that
// files have (optimizer/loops/schedule.py).

/** @typedef {import("./types.js").Primitive} Primitive */
/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {"loop" | "loops" | "reader" | "reader-loop" | "name" | "size" | "choice"} kind
 * @property {string[]} [choices]
 * @property {number} [value] of a size, at first
 * @property {string} [suffix] of a name that is made of the loop's
 */
/** @typedef {{id: string, title: string, does: string, fields: Field[]}} Kind */

const TAILS = [
  "guard_with_if",
  "auto",
  "round_up",
  "predicate",
  "predicate_loads",
  "predicate_stores",
  "shift_inwards",
];
const MEMORY = ["heap", "stack", "register", "gpu_shared"];
/** @type {Field} */ const LOOP = { name: "loop", label: "loop", kind: "loop" };
/** @type {Field[]} */ const PLACE = [
  { name: "reader", label: "in", kind: "reader" },
  { name: "loop", label: "loop", kind: "reader-loop" },
];

/** @type {Kind[]} */
export const KINDS = [
  {
    id: "split",
    title: "split",
    does: "one loop as two",
    fields: [
      LOOP,
      { name: "factor", label: "by", kind: "size", value: 8 },
      { name: "outer", label: "outer", kind: "name", suffix: "o" },
      { name: "inner", label: "inner", kind: "name", suffix: "i" },
      { name: "tail", label: "tail", kind: "choice", choices: TAILS },
    ],
  },
  {
    id: "tile",
    title: "tile",
    does: "two loops as four: two splits and a reorder",
    fields: [
      { name: "rows", label: "rows", kind: "loop" },
      { name: "height", label: "by", kind: "size", value: 32 },
      { name: "columns", label: "columns", kind: "loop" },
      { name: "width", label: "by", kind: "size", value: 32 },
    ],
  },
  {
    id: "reorder",
    title: "reorder",
    does: "loops in another order, the outermost first",
    fields: [{ name: "loops", label: "loops", kind: "loops" }],
  },
  {
    id: "fuse",
    title: "fuse",
    does: "two loops, one right inside the other, as one",
    fields: [
      { name: "outer", label: "outer", kind: "loop" },
      { name: "inner", label: "inner", kind: "loop" },
      { name: "fused", label: "fused", kind: "name", suffix: "f" },
    ],
  },
  { id: "vectorize", title: "vectorize", does: "a loop as one vector instruction", fields: [LOOP] },
  { id: "unroll", title: "unroll", does: "a loop written out", fields: [LOOP] },
  { id: "parallel", title: "parallel", does: "rounds on all threads", fields: [LOOP] },
  {
    id: "gpu_blocks",
    title: "GPU blocks",
    does: "rounds are thread blocks of a GPU",
    fields: [LOOP],
  },
  {
    id: "gpu_threads",
    title: "GPU threads",
    does: "rounds are the threads of a block",
    fields: [LOOP],
  },
  {
    id: "gpu_single_thread",
    title: "GPU single thread",
    does: "all of it by one thread of a GPU",
    fields: [],
  },
  {
    id: "compute_at",
    title: "compute at",
    does: "computed in each round of a reader's loop",
    fields: PLACE,
  },
  {
    id: "compute_root",
    title: "compute root",
    does: "all of it before whatever reads it",
    fields: [],
  },
  {
    id: "compute_inline",
    title: "compute inline",
    does: "computed again wherever it is read",
    fields: [],
  },
  {
    id: "store_at",
    title: "store at",
    does: "its memory lives for a round of a reader's loop",
    fields: PLACE,
  },
  {
    id: "store_root",
    title: "store root",
    does: "its memory lives from first to last",
    fields: [],
  },
  {
    id: "store_in",
    title: "store in",
    does: "where its memory lies",
    fields: [{ name: "memory", label: "memory", kind: "choice", choices: MEMORY }],
  },
  {
    id: "bound",
    title: "bound",
    does: "a promise about an axis' extent",
    fields: [LOOP, { name: "extent", label: "extent", kind: "size", value: 8 }],
  },
  {
    id: "bound_extent",
    title: "bound extent",
    does: "a promise about how much of an axis is computed at a time",
    fields: [LOOP, { name: "extent", label: "extent", kind: "size", value: 8 }],
  },
  {
    id: "reorder_storage",
    title: "reorder storage",
    does: "axes in memory in another order",
    fields: [{ name: "loops", label: "axes", kind: "loops" }],
  },
  {
    id: "align_storage",
    title: "align storage",
    does: "memory for a multiple of elements",
    fields: [LOOP, { name: "factor", label: "of", kind: "size", value: 16 }],
  },
  {
    id: "r_factor",
    title: "rfactor",
    does: "part of a reduction as a Func of its own",
    fields: [
      LOOP,
      { name: "made", label: "Func", kind: "name", suffix: "_part" },
      { name: "axis", label: "axis", kind: "name", suffix: "" },
    ],
  },
  { id: "atomic", title: "atomic", does: "rounds that combine may run side by side", fields: [] },
  {
    id: "in",
    title: "in",
    does: "a tensor is read through a copy",
    fields: [{ name: "made", label: "copy", kind: "name", suffix: "_in" }],
  },
];

/** Kinds whose loops may be those that combine. */
export const OF_A_NEST = new Set([
  "split",
  "fuse",
  "reorder",
  "vectorize",
  "unroll",
  "parallel",
  "gpu_blocks",
  "gpu_threads",
]);
const USUAL = { tail: "guard_with_if", nest: 0, reader: "" };

/** A primitive in one line, as `primitive_text` of optimizer/schedules/document.py. @param {Primitive} primitive */
export function textOf({ primitive, func, ...fields }) {
  const name = { r_factor: "rfactor", in: "in_" }[primitive] ?? primitive;
  const words = Object.entries(fields)
    .filter(([field, value]) => field !== "nest" && /** @type {any} */ (USUAL)[field] !== value)
    .map(([, value]) => (Array.isArray(value) ? value.join(", ") : String(value)));
  return `${func}${fields.nest ? ".update()" : ""}.${name}(${words.join(", ")})`;
}

/** A tile as the primitives it stands for. @param {Record<string, any>} told */
export function tiled({ func, nest, rows, columns, height, width }) {
  const [y, x] = [rows, columns];
  const split = (/** @type {string} */ loop, /** @type {number} */ factor) => ({
    primitive: "split",
    func,
    loop,
    outer: `${loop}o`,
    inner: `${loop}i`,
    factor,
    tail: "guard_with_if",
    nest,
  });
  const loops = [`${y}o`, `${x}o`, `${y}i`, `${x}i`];
  return [split(y, height), split(x, width), { primitive: "reorder", func, loops, nest }];
}
