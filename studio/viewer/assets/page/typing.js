// @ts-check
// Who a key is meant for: the control that has the keyboard, or the graph.

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
