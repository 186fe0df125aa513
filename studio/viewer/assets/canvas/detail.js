// @ts-check
// What all parts of a drawing agree on: from which zoom on there is how much detail, what the
// viewport meets, and the colours of change marks.

export const LOD = 0.3; // below: plain rectangles
export const TEXT_LOD = 0.42; // below: no text in boxes

/** @param {{x: number, y: number, w: number, h: number}} b @param {Bounds} v */
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
