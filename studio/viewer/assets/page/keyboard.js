// @ts-check
// Who a key is meant for: the control that has the keyboard, or the graph. Who pressed with
// the mouse has the graph's keys at once; the keyboard stays where it is, unless that has gone.

/** Keys that mean nothing to a list of choices. */
const SIGNS = new Set(["[", "]", "<", ">", "?", "/", ",", "."]);

const FIELDS = "input:not([type=checkbox], [type=button], [type=submit]), textarea, select";
const EDITED = "[contenteditable]:not([contenteditable=false])";
const ROLES =
  "combobox dialog grid listbox menu menuitem option radio slider spinbutton tab textbox tree";
/** What on a page uses most keys itself: Streamlit's widgets say so by their roles. */
const WIDGETS = [
  ...[FIELDS, EDITED, "[data-testid=stDataFrame]", "audio, video"],
  ...ROLES.split(" ").map((role) => `[role=${role}]`),
].join(", ");
const PRESSED = "button, summary, a, input";
const BUTTONS = "button, summary, input[type=checkbox]";
const CHOSEN = "select, input[type=checkbox]";

/**
 * Whether a control of the viewer uses a key itself.
 * @param {HTMLElement} target @param {string} key
 */
export function isMeantFor(target, key) {
  if (key === " " && target.matches?.(PRESSED)) return true;
  if (target.matches?.("ol")) return key === "ArrowUp" || key === "ArrowDown";
  if (target.matches?.("select")) return key !== "Escape" && !SIGNS.has(key);
  return key !== "Escape" && target.matches?.("input:not([type=checkbox]), textarea");
}

/**
 * Whether something outside the viewer uses a key itself, or the browser does.
 * @param {KeyboardEvent} e
 */
export function isMeantForThePage(e) {
  if (e.altKey && (e.key === "ArrowLeft" || e.key === "ArrowRight")) return true; // back, forward
  if (document.querySelector("[aria-modal=true]")) return true;
  const path = e.composedPath().filter((el) => el instanceof Element);
  return path.some((el) => el.matches(WIDGETS) || (e.key === " " && el.matches(PRESSED)));
}

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
    if (!on.closest?.(e.type === "click" ? BUTTONS : CHOSEN)) return;
    const active = /** @type {ShadowRoot} */ (root.getRootNode()).activeElement;
    const gone = !active || !root.contains(active);
    if (gone || (mouse && active.matches(`${BUTTONS}, select`)))
      root.focus({ preventScroll: true });
  };
  listen("click", back);
  listen("change", back);
}
