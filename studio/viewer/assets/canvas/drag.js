// @ts-check
// Dragging that goes on outside of what was pressed; and the bar between the panes, which is dragged.

const LEAST = 0.2;
const KEY_STEP = 0.04;

/** @param {HTMLElement} el @param {(e: PointerEvent) => void} move where it was pressed, and wherever it is drawn */
export function draggable(el, move) {
  el.addEventListener("pointerdown", (e) => {
    e.preventDefault();
    move(e);
    const end = new AbortController();
    window.addEventListener("pointermove", move, end);
    window.addEventListener("pointerup", () => end.abort(), end);
  });
}

/** What was pressed goes on to hear of the pointer. @param {HTMLElement} el @param {PointerEvent} e */
export function capture(el, e) {
  try {
    el.setPointerCapture(e.pointerId);
  } catch {
    /* a synthetic pointer cannot be captured */
  }
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
