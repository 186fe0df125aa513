// @ts-check
// Rows that are dragged to another place of their list, by mouse, pen or finger.

const FROM_PX = 4; // less is a click

/**
 * Lets the rows of a list be dragged; they may be drawn anew at any time.
 * @param {HTMLElement} list its children are the rows
 * @param {string} handle selects what is pressed in a row, or the row
 * @param {(from: number, to: number) => void} move
 */
export function reorderable(list, handle, move) {
  list.addEventListener("pointerdown", (/** @type {PointerEvent} */ down) => {
    const pressed = /** @type {Element} */ (down.target).closest(handle);
    const from = pressed && list.contains(pressed) ? rowAt(list, down) : -1;
    if (from < 0 || down.button) return;
    const end = new AbortController();
    let to = -1;
    const follow = (/** @type {PointerEvent} */ e) => {
      if (to < 0 && Math.abs(e.clientY - down.clientY) < FROM_PX) return;
      to = rowAt(list, e);
      mark(list, from, to);
    };
    const leave = (/** @type {boolean} */ dropped) => {
      end.abort();
      mark(list, from, -1);
      if (dropped && to >= 0 && to !== from) move(from, to);
    };
    addEventListener("pointermove", follow, end);
    addEventListener("pointerup", () => leave(true), end);
    addEventListener("pointercancel", () => leave(false), end);
    addEventListener("keydown", (e) => e.key === "Escape" && leave(false), end);
  });
}

/** The row under the pointer, -1 for none. @param {HTMLElement} list @param {PointerEvent} e */
function rowAt(list, e) {
  const around = list.getBoundingClientRect();
  if (e.clientX < around.left || e.clientX > around.right) return -1;
  return [...list.children].findIndex((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return top <= e.clientY && e.clientY < bottom;
  });
}

/** Draws where the row would go. @param {HTMLElement} list @param {number} from @param {number} to */
function mark(list, from, to) {
  [...list.children].forEach((row, at) => {
    row.classList.toggle("pl-dragged", at === from && to >= 0);
    row.classList.toggle("pl-drop-before", at === to && to < from);
    row.classList.toggle("pl-drop-after", at === to && to > from);
  });
  list.classList.toggle("pl-dragging", to >= 0);
  if (to >= 0) reveal(list.children[to]);
}

/** Scrolls what is around a row, and never the page. @param {Element} row */
export function reveal(row) {
  const around = scroller(row);
  if (!around) return;
  const [inner, outer] = [row.getBoundingClientRect(), around.getBoundingClientRect()];
  if (inner.top < outer.top) around.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) around.scrollTop += inner.bottom - outer.bottom;
}

/** @param {Element} row @returns {Element | null} */
function scroller(row) {
  for (let el = row.parentElement; el; el = el.parentElement)
    if (/auto|scroll/.test(getComputedStyle(el).overflowY)) return el;
  return null;
}
