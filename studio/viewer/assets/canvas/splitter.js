// @ts-check
// The bar between the panes: drag it, move it with the arrow keys, double click for the middle.

import { draggable } from "./drag.js";

const LEAST = 0.2;
const KEY_STEP = 0.04;

/** @param {Stage} stage */
export function makeDraggable(stage) {
  const { gutter } = stage;
  const set = (/** @type {number} */ split) => {
    stage.split = Math.min(1 - LEAST, Math.max(LEAST, split));
    stage.applySplit();
  };
  draggable(gutter, (e) => {
    const r = stage.el.getBoundingClientRect();
    set((e.clientX - r.left) / r.width);
  });
  gutter.addEventListener("dblclick", () => set(0.5));
  gutter.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
    e.stopPropagation();
    e.preventDefault();
    set(stage.split + (e.key === "ArrowLeft" ? -KEY_STEP : KEY_STEP));
  });
}
