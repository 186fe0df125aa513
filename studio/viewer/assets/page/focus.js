// @ts-check
// Who pressed with the mouse has the graph's keys at once; the keyboard stays where it is, unless
// what it was on has gone.

const PRESSED = "button, summary, input[type=checkbox]";
const CHOSEN = "select, input[type=checkbox]";

/** Give the focus to the graph that is pressed, and back after every control of the viewer. @param {HTMLElement} root */
export function giveFocusBack(root) {
  let mouse = false;
  const listen = (/** @type {string} */ name, /** @type {(e: Event) => void} */ act) =>
    root.addEventListener(name, act, { capture: name !== "click" && name !== "change" });
  listen("pointerdown", (e) => {
    mouse = true;
    const on = /** @type {HTMLElement} */ (e.composedPath()[0]);
    if (on.matches?.("canvas")) root.focus({ preventScroll: true });
  });
  listen("keydown", () => {
    mouse = false;
  });
  const back = (/** @type {Event} */ e) => {
    const on = /** @type {HTMLElement} */ (e.composedPath()[0]);
    if (!on.closest?.(e.type === "click" ? PRESSED : CHOSEN)) return;
    const active = /** @type {ShadowRoot} */ (root.getRootNode()).activeElement;
    const gone = !active || !root.contains(active);
    if (gone || (mouse && active.matches(`${PRESSED}, select`)))
      root.focus({ preventScroll: true });
  };
  listen("click", back);
  listen("change", back);
}
