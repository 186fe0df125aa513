// @ts-check
// A small mark for every category, so that colour is never the only sign. Drawn in a box of 10 x
// 10.

/** @typedef {CanvasRenderingContext2D} Ctx */

const CALLS = new Map([
  ["M", "moveTo"],
  ["L", "lineTo"],
  ["C", "bezierCurveTo"],
  ["Q", "quadraticCurveTo"],
  ["A", "arc"],
  ["R", "rect"],
  ["Z", "closePath"],
]);

/** What is called on a context, by letter, and with which numbers. */
const PATHS = {
  conv: "R -4 -4 3.2 3.2 R 0.8 -4 3.2 3.2 R -4 0.8 3.2 3.2 R 0.8 0.8 3.2 3.2",
  norm: "M -5 4 C -1 4 -2.5 -4 0 -4 C 2.5 -4 1 4 5 4",
  act: "M -5 3 L -0.5 3 L 4.5 -4",
  pool: "M -5 -3.5 L 5 -3.5 M -3 0 L 3 0 M -1 3.5 L 1 3.5",
  shape: "M -2 -4 L -4.5 -4 L -4.5 4 L -2 4 M 2 -4 L 4.5 -4 L 4.5 4 L 2 4",
  elem: "M 0 -4.5 L 0 4.5 M -4.5 0 L 4.5 0",
  attn: "M -5 0 Q 0 -6.5 5 0 Q 0 6.5 -5 0 M 1.6 0 A 0 0 1.6 0 7",
  control: "M 0 -5 L 4.8 0 L 0 5 L -4.8 0 Z",
  quant: "M -5 4 L -2 4 L -2 0.5 L 1.5 0.5 L 1.5 -3.5 L 5 -3.5",
  io: "M -4.5 0 L 4 0 M 1 -3 L 4 0 L 1 3",
  unknown: "M -7 4.5 L -1 -4.5 M -3 4.5 L 3 -4.5 M 1 4.5 L 7 -4.5",
};

/** @type {Map<string, [string, number[]][]>} */
const GLYPHS = new Map(
  Object.entries(PATHS).map(([category, path]) => [
    category,
    [...path.matchAll(/([A-Z])([^A-Z]*)/g)].map(([, letter, numbers]) => [
      CALLS.get(letter) ?? "",
      (numbers.match(/\S+/g) ?? []).map(Number),
    ]),
  ]),
);

/** @param {Ctx} c @param {string} category @param {number} x @param {number} y @param {string} colour */
export function drawGlyph(c, category, x, y, colour) {
  const pen = /** @type {any} */ (c);
  c.save();
  c.translate(x, y);
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.lineJoin = "round";
  c.lineCap = "round";
  c.beginPath();
  /** @type {any} */ for (const [name, numbers] of GLYPHS.get(category) ??
    GLYPHS.get("unknown") ??
    [])
    pen[name](...numbers);
  c.stroke();
  c.restore();
}
