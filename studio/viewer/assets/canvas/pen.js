// @ts-check
// What every drawing here is made of: a canvas of the right size, text, rounded boxes, lines. And
// what all drawings agree on: from which zoom on there is how much detail, what the viewport meets,
// the colours of change marks.

/** @typedef {CanvasRenderingContext2D} Ctx */
/** @typedef {{x: number, y: number, w: number, h: number}} Rect */

export const LOD = 0.3; // below: plain rectangles
export const TEXT_LOD = 0.42; // below: no text in boxes

/**
 * A canvas with as many pixels as the screen has there, to be drawn on in the page's pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height of the page's pixels
 * @param {{fixed?: boolean}} [how] stretched by a fraction of a pixel it would draw blurred text
 */
export function penOf(canvas, width, height, { fixed = false } = {}) {
  const dpr = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * dpr), Math.round(height * dpr)];
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h });
    if (fixed) Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const c = /** @type {Ctx} */ (canvas.getContext("2d"));
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  return c;
}

/**
 * @param {Ctx} c @param {string} text @param {number} x @param {number} y
 * @param {{font: string, colour: string, align?: CanvasTextAlign, baseline?: CanvasTextBaseline}} style
 */
export function drawText(c, text, x, y, { font, colour, align = "left", baseline = "middle" }) {
  c.font = font;
  c.fillStyle = colour;
  c.textAlign = align;
  c.textBaseline = baseline;
  c.fillText(text, x, y);
}

/**
 * @param {Ctx} c @param {Rect} at @param {number | number[]} radius
 * @param {{fill?: string, stroke?: string, line?: number}} style
 */
export function drawRound(c, { x, y, w, h }, radius, { fill, stroke, line = 1 }) {
  c.beginPath();
  c.roundRect(x, y, w, h, radius);
  if (fill) {
    c.fillStyle = fill;
    c.fill();
  }
  if (!stroke) return;
  c.strokeStyle = stroke;
  c.lineWidth = line;
  c.stroke();
}

/** @param {Rect} rect @param {number} by @returns {Rect} */
export const grown = ({ x, y, w, h }, by) => ({
  x: x - by,
  y: y - by,
  w: w + 2 * by,
  h: h + 2 * by,
});

const ruler = /** @type {Ctx} */ (document.createElement("canvas").getContext("2d"));

/** How wide a text is. @param {string} text @param {string} font */
export function measureText(text, font) {
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** A path from point to point, to fill or stroke. @param {Ctx} c @param {...number} points x, y, … */
export function path(c, ...points) {
  c.beginPath();
  c.moveTo(points[0], points[1]);
  for (let i = 2; i < points.length; i += 2) c.lineTo(points[i], points[i + 1]);
}

/** @param {Ctx} c @param {number} x @param {number} y0 @param {number} y1 */
export function vertical(c, x, y0, y1) {
  path(c, x, y0, x, y1);
  c.stroke();
}

/**
 * Slanted lines all over a rectangle.
 * @param {Ctx} c @param {Rect} at @param {string} colour @param {number} from of the first one @param {number} step
 */
export function slanted(c, { x, y, w, h }, colour, from, step) {
  c.strokeStyle = colour;
  c.lineWidth = 1;
  c.beginPath();
  for (let at = from; at < x + w; at += step) {
    c.moveTo(at, y + h);
    c.lineTo(at + h, y);
  }
  c.stroke();
}

/** Where one is on a strip. @param {Ctx} c @param {number} x @param {number} height @param {string} colour */
export function drawCursor(c, x, height, colour) {
  c.fillStyle = colour;
  c.fillRect(x - 1, 2, 2, height - 3);
  c.beginPath();
  c.arc(x, 4, 4, 0, 7);
  c.fill();
}

/** @param {Rect} b @param {Bounds} v */
export function meets(b, v) {
  return b.x <= v.x1 && b.x + b.w >= v.x0 && b.y <= v.y1 && b.y + b.h >= v.y0;
}

/** @type {Map<Mark | null, "add" | "remove" | "change" | "first" | "second">} */
const COLOURS = new Map([
  ["added", "add"],
  ["removed", "remove"],
  ["changed", "change"],
  ["first", "first"],
  ["second", "second"],
]);

/** @param {Theme} t @param {Mark | null} mark */
export const markColour = (t, mark) => t[COLOURS.get(mark) ?? "match"];
