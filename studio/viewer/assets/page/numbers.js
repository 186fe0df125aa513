// @ts-check
// Numbers as people read them, by the same rule as optimizer/numbers.py: bytes are binary,
// everything else is decimal; tests/numbers.json holds what both must give.

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];
/** What is counted as work. */
export const FLOP = "floating-point operations; a multiply-accumulate is 2";

const PREFIXES = ["", "k", "M", "G", "T", "P"];

/** Three significant digits without an exponent, halves up. @param {number} value */
export function threeDigits(value) {
  const size = Math.abs(value);
  const short = Number(size.toPrecision(3));
  const text =
    size >= 100
      ? Number(size.toFixed(0)).toLocaleString("en")
      : short.toLocaleString("en", { maximumFractionDigits: 20 });
  return `${value < 0 ? "-" : ""}${text}`;
}

/**
 * @param {number} size at least 0 @param {number} base @param {number} most
 * @returns {number} the power of the base in which so much is easy to read
 */
function power(size, base, most) {
  let p = 0;
  for (let v = size; v >= base - 0.5 && p < most; v /= base) p++;
  return p;
}

/** @param {number} bytes @returns {number} a power of 1024 */
export const bytesPower = (bytes) => power(bytes, 1024, BYTES.length - 1);

/** @param {number} p a power of 1024 */
export const bytesUnit = (p) => BYTES[p];

/** In the unit that suits: 3211264 -> "3.06 MiB". @param {number} bytes */
export function bytesText(bytes) {
  const p = bytesPower(Math.abs(bytes));
  return `${threeDigits(bytes / 1024 ** p)} ${BYTES[p]}`;
}

/**
 * In thousands, millions, …: "1.23 GFLOP"; bytes in KiB, MiB, …; without a unit the whole number.
 * @param {number} value its sign is not shown
 * @param {string} unit
 */
export function amount(value, unit) {
  const size = Math.abs(value);
  if (unit === "B") return bytesText(size);
  if (!unit) return whole(value);
  const p = power(size, 1000, PREFIXES.length - 1);
  return `${threeDigits(size / 1000 ** p)} ${PREFIXES[p]}${unit}`;
}

/** With a real minus sign. @param {number} value @param {string} unit */
export function signed(value, unit) {
  return `${value < 0 ? "−" : value > 0 ? "+" : ""}${amount(value, unit)}`;
}

/** @param {number} value */
export const whole = (value) => Math.round(Math.abs(value)).toLocaleString("en");

/** A noun that agrees: "node", "nodes". @param {number} n @param {string} one @param {string} many */
export const noun = (n, one, many = `${one}s`) => (Math.abs(n) === 1 ? one : many);

/** A count and its noun: "1 node". @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many) => `${n < 0 ? "−" : ""}${whole(n)} ${noun(n, one, many)}`;

/** Three digits and a unit. @param {number} us */
export const microseconds = (us) =>
  us < 999.5 ? `${threeDigits(us)} µs` : `${threeDigits(us / 1000)} ms`;

/** A ratio, which is compared by its hundredths: 1.5 -> "1.50×". @param {number} ratio */
export const timesText = (ratio) => `${ratio < 9.995 ? ratio.toFixed(2) : threeDigits(ratio)}×`;

/** @typedef {{nodes?: number, flops?: number, bytes?: number}} Delta */

/**
 * What several steps changed together, in words: amounts that are not zero, and what each counts.
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
