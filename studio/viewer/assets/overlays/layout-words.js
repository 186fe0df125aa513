// @ts-check
// What a layout says, in words: "NC1HWC0" is "N batch, C1·C0 channels in blocks of 16, H height, …".

const NAMES = new Map([
  ["N", "batch"],
  ["C", "channels"],
  ["D", "depth"],
  ["H", "height"],
  ["W", "width"],
]);
const UNKNOWN = "·";

/** One axis: digits in brackets, a letter that may be cut, a small block of channels, or unknown. */
const AXIS = /\([^)]*\)|[A-Z][01|]?|c\d+|./g;
const DIGIT = /[A-Z][01|]?/g;

/** @param {string} layout @param {string} shape of the value: "1×4×56×56×16" */
export function meaningOf(layout, shape) {
  const axes = [...layout.matchAll(AXIS)].map(([axis]) => axis);
  const sizes = shape.split("×");
  const size = (/** @type {string} */ axis) => sizes[axes.indexOf(axis)] ?? "";
  const parts = axes.map((axis) => {
    if (axis === UNKNOWN) return "";
    if (/^c\d/.test(axis)) return `${axis} blocks of ${axis.slice(1)} channels`;
    const digits = axis.match(DIGIT) ?? [];
    return digits.length > 1 ? merged(axis, digits) : single(axis, axes, size(`${axis[0]}0`));
  });
  if (axes.includes(UNKNOWN)) parts.push(`${UNKNOWN} an axis of which nothing is known`);
  return parts.filter(Boolean).join(", ");
}

/** @param {string} letter */
const nameOf = (letter) => NAMES.get(letter) ?? letter;

/** @param {string} axis @param {string[]} axes @param {string} block size of its blocks */
function single(axis, axes, block) {
  const [letter, cut] = axis;
  const name = nameOf(letter);
  if (!cut) return `${axis} ${name}`;
  if (cut === "0") return axes.includes(`${letter}1`) ? "" : `${axis} ${name} within a block`;
  if (cut === "1" && axes.includes(`${letter}0`))
    return `${letter}1·${letter}0 ${name} in blocks of ${block || "some"}`;
  return `${axis} which block of ${name}`;
}

/** Several as one axis. @param {string} axis @param {string[]} digits */
function merged(axis, digits) {
  const cuts = new Set(digits.map((digit) => digit[1] ?? ""));
  const names = digits.map(([letter]) => nameOf(letter)).join(" and ");
  if (cuts.size > 1) return `${axis} parts of ${names} as one axis`;
  if (cuts.has("1")) return `${axis} which block of ${names}`;
  return cuts.has("0") ? `${axis} ${names} within a block` : `${axis} ${names} as one axis`;
}
