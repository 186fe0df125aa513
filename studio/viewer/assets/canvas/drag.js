// @ts-check
// Dragging that goes on outside of what was pressed.

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
