// @ts-check
// What the pointer does: in a pane it moves the camera of both, picks a box, folds a group; between
// the panes it moves their split.

import { draggable } from "./drag.js";

const LEAST = 0.2;
const KEY_STEP = 0.04;

/** @param {Stage} stage @returns {import("./pane.js").PaneHost} */
export function paneHost(stage) {
  const { camera } = stage;
  const index = (/** @type {Pane} */ pane) => (pane === stage.panes[0] ? 0 : 1);
  const moved = () => {
    stage.host.moved();
    stage.invalidate();
  };
  return {
    onPan: (pane, dx, dy) => {
      camera.pan(index(pane), dx, dy);
      moved();
    },
    onZoom: (pane, factor, x, y) => {
      camera.zoom(index(pane), factor, x, y);
      moved();
    },
    onClick: (pane, box) => {
      camera.follow(index(pane));
      stage.host.hover(null, null, stage.which(pane));
      stage.host.pick(box);
    },
    onFold: (pane, box) => {
      camera.follow(index(pane));
      if (box && box.kind !== "node") stage.host.toggle(box);
    },
    onHover: (pane, box, event) => {
      stage.host.hover(box, event, stage.which(pane));
      stage.invalidate();
    },
    viewOf: (pane) => camera.view(index(pane)),
  };
}

/** The bar between the panes: drag it, move it with the arrow keys, double click for the middle. @param {Stage} stage */
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
