// @ts-check
// A small mark for every category, so that colour is never the only sign. Drawn in a box of 10 x
// 10.

/** @typedef {CanvasRenderingContext2D} Ctx */

/** @type {Map<string, (c: Ctx) => void>} */
const GLYPHS = new Map([
  [
    "conv",
    (c) => {
      for (const [x, y] of [
        [-4, -4],
        [0.8, -4],
        [-4, 0.8],
        [0.8, 0.8],
      ])
        c.rect(x, y, 3.2, 3.2);
    },
  ],
  [
    "norm",
    (c) => {
      c.moveTo(-5, 4);
      c.bezierCurveTo(-1, 4, -2.5, -4, 0, -4);
      c.bezierCurveTo(2.5, -4, 1, 4, 5, 4);
    },
  ],
  [
    "act",
    (c) => {
      c.moveTo(-5, 3);
      c.lineTo(-0.5, 3);
      c.lineTo(4.5, -4);
    },
  ],
  [
    "pool",
    (c) => {
      c.moveTo(-5, -3.5);
      c.lineTo(5, -3.5);
      c.moveTo(-3, 0);
      c.lineTo(3, 0);
      c.moveTo(-1, 3.5);
      c.lineTo(1, 3.5);
    },
  ],
  [
    "shape",
    (c) => {
      c.moveTo(-2, -4);
      c.lineTo(-4.5, -4);
      c.lineTo(-4.5, 4);
      c.lineTo(-2, 4);
      c.moveTo(2, -4);
      c.lineTo(4.5, -4);
      c.lineTo(4.5, 4);
      c.lineTo(2, 4);
    },
  ],
  [
    "elem",
    (c) => {
      c.moveTo(0, -4.5);
      c.lineTo(0, 4.5);
      c.moveTo(-4.5, 0);
      c.lineTo(4.5, 0);
    },
  ],
  [
    "attn",
    (c) => {
      c.moveTo(-5, 0);
      c.quadraticCurveTo(0, -6.5, 5, 0);
      c.quadraticCurveTo(0, 6.5, -5, 0);
      c.moveTo(1.6, 0);
      c.arc(0, 0, 1.6, 0, 7);
    },
  ],
  [
    "control",
    (c) => {
      c.moveTo(0, -5);
      c.lineTo(4.8, 0);
      c.lineTo(0, 5);
      c.lineTo(-4.8, 0);
      c.closePath();
    },
  ],
  [
    "quant",
    (c) => {
      c.moveTo(-5, 4);
      c.lineTo(-2, 4);
      c.lineTo(-2, 0.5);
      c.lineTo(1.5, 0.5);
      c.lineTo(1.5, -3.5);
      c.lineTo(5, -3.5);
    },
  ],
  [
    "io",
    (c) => {
      c.moveTo(-4.5, 0);
      c.lineTo(4, 0);
      c.moveTo(1, -3);
      c.lineTo(4, 0);
      c.lineTo(1, 3);
    },
  ],
  [
    "unknown",
    (c) => {
      for (const d of [-4, 0, 4]) {
        c.moveTo(d - 3, 4.5);
        c.lineTo(d + 3, -4.5);
      }
    },
  ],
]);

/**
 * @param {Ctx} c
 * @param {string} category
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 */
export function drawGlyph(c, category, x, y, colour) {
  c.save();
  c.translate(x, y);
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.lineJoin = "round";
  c.lineCap = "round";
  c.beginPath();
  (GLYPHS.get(category) ?? /** @type {(c: Ctx) => void} */ (GLYPHS.get("unknown")))(c);
  c.stroke();
  c.restore();
}
