// @ts-check
// From place to place in the graph: how many there are, which one is selected, the one before and
// the next.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

/**
 * @param {Context} context
 * @param {string[]} ids nodes
 * @param {string} name of what keeps the keyboard when all is drawn again
 * @param {() => void} redraw
 */
export function placeWalk({ state, actions }, ids, name, redraw) {
  const at = ids.indexOf(state.selected ?? "");
  const go = (/** @type {number} */ by) => () => {
    const next = at < 0 && by < 0 ? ids.length - 1 : (at + by + ids.length) % ids.length;
    actions.select(ids[next], { reveal: true });
    actions.say(`Place ${next + 1} of ${ids.length} is selected.`);
    redraw();
  };
  const step = (
    /** @type {string} */ label,
    /** @type {string} */ text,
    /** @type {number} */ by,
  ) => {
    const made = button(label, text, go(by));
    made.dataset.focus = `${by}:${name}`;
    return made;
  };
  return h(
    "div.pl-walk",
    step("Select the place before", "◂ Previous", -1),
    h("span.pl-num", at < 0 ? counted(ids.length, "place") : `${at + 1} of ${ids.length}`),
    step("Select the next place", "Next ▸", 1),
  );
}
