// @ts-check
// One pane on its canvas: groups, wires, boxes, stubs, in this order, only what the viewport meets.

import { drawBox } from "./draw-box.js";
import { drawClosed, drawOpen, drawTitle } from "./draw-group.js";
import { drawTags, drawWires } from "./draw-wires.js";
import { LOD, markColour, meets } from "./pen.js";

/**
 * @typedef {"added" | "removed" | "changed" | "matched" | "vetoed" | "declined" | "first" | "second"}
 *   Mark the last two: there with one of two pipelines alone
 */
/**
 * @typedef {{mark: Mark | null, now: boolean, faded?: boolean, plus?: number, minus?: number,
 *   sides?: boolean}} BoxMark sides: what came and went is what B and A alone have
 */

/**
 * @typedef {object} Scene everything one drawing needs
 * @property {CanvasRenderingContext2D} c
 * @property {number} width @property {number} height @property {number} dpr
 * @property {View} view
 * @property {Theme} theme
 * @property {Metrics} metrics
 * @property {Picture} picture
 * @property {DrawnWire[]} wires those of the picture, wherever they are just now
 * @property {Map<number, BoxMark>} marks
 * @property {Set<number>} selected box keys
 * @property {Set<number> | null} lit pairs of the selected boxes, null = nothing selected
 * @property {Set<number>} near boxes at the other ends of those
 * @property {Set<number>} inside boxes in the selected group
 * @property {number} hover box key or -1
 * @property {boolean} folds whether the pointer is on the fold mark of that box
 * @property {(b: Box) => {x: number, y: number, w: number, h: number, alpha: number}} at place in the animation
 * @property {number} progress 0..1 of the animation
 * @property {Box[]} ghosts boxes that have just gone
 * @property {boolean} overlay
 * @property {Overlay | null} colours shown instead of those of categories
 * @property {(b: Box) => any} value of a box in that overlay, null for none
 * @property {((edge: number) => import("../overlays/overlay.js").WireTag | null) | null} wireTag what
 *   that overlay says of a wire
 * @property {Int32Array} counts nodes alive below each group
 * @property {(edge: number) => string} edgeLabel
 */

/** @typedef {{x0: number, y0: number, x1: number, y1: number}} Bounds */

/** @param {Scene} s */
export function drawPane(s) {
  const { c, view, dpr, width, height } = s;
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.fillStyle = s.theme.bg;
  c.fillRect(0, 0, width + 1, height + 1);
  const k = view.k;
  c.setTransform(
    dpr * k,
    0,
    0,
    dpr * k,
    dpr * (width / 2 - k * view.x),
    dpr * (height / 2 - k * view.y),
  );
  const seen = {
    x0: view.x - width / 2 / k - 20,
    x1: view.x + width / 2 / k + 20,
    y0: view.y - height / 2 / k - 20,
    y1: view.y + height / 2 / k + 20,
  };
  for (const b of s.picture.boxes)
    if (b.kind === "open") {
      const p = s.at(b);
      if (meets(p, seen)) drawOpen(s, b, p);
    }
  drawWires(s, seen);
  if (k < LOD) {
    drawSpecks(s, seen);
    return;
  }
  for (const b of s.picture.boxes)
    if (b.kind === "open") {
      const p = s.at(b);
      if (meets({ ...p, h: 26 }, seen)) drawTitle(s, b, p);
    }
  for (const b of s.ghosts) drawGhost(s, b, seen);
  for (const b of s.picture.boxes) {
    if (b.kind === "open") continue;
    const p = s.at(b);
    if (!meets(p, seen)) continue;
    c.globalAlpha = p.alpha * (dimmed(s, b) ? 0.35 : 1);
    if (b.kind === "closed") drawClosed(s, b, p);
    else drawBox(s, b, p);
    c.globalAlpha = 1;
  }
  drawTags(s, seen);
}

/**
 * With a selection everything but it and its neighbours steps back.
 * @param {Scene} s
 * @param {Box} b
 */
function dimmed(s, b) {
  return s.lit !== null && !s.selected.has(b.key) && !s.near.has(b.key);
}

/** @param {Scene} s @param {Box} b @param {Bounds} seen */
function drawGhost(s, b, seen) {
  if (!meets(b, seen)) return;
  s.c.globalAlpha = 0.6 * (1 - s.progress);
  drawBox(s, b, { ...b, alpha: 1 }, { mark: "removed", now: true, faded: true });
  s.c.globalAlpha = 1;
}

/** @param {Scene} s @param {Bounds} seen */
function drawSpecks(s, seen) {
  const { c, theme } = s;
  for (const b of s.picture.boxes) {
    if (b.kind === "open" || !meets(b, seen)) continue;
    c.globalAlpha = dimmed(s, b) ? 0.35 : 1;
    const mark = s.marks.get(b.key);
    const value = s.value(b);
    const shade = value && s.colours?.colour(theme, value);
    c.fillStyle = shade
      ? (shade.solid ?? shade.tint)
      : s.colours
        ? theme.patch
        : b.kind === "closed"
          ? theme.faint
          : theme.category(b.rec?.cat ?? "unknown").solid;
    c.fillRect(b.x, b.y, b.w, b.h);
    if (mark?.mark || s.selected.has(b.key)) {
      c.strokeStyle = s.selected.has(b.key) ? theme.primary : markColour(theme, mark?.mark ?? null);
      c.lineWidth = 3 / s.view.k;
      c.strokeRect(b.x, b.y, b.w, b.h);
    }
  }
  c.globalAlpha = 1;
}
