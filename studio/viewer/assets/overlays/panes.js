// @ts-check
// What overlays ask of a pane: at which step its nodes are shown, and what lies in its groups.

/** The step at which a pane shows a node. @param {Session} s @param {Which} which @param {number} o */
export const stepShown = ({ beforeCursor, afterCursor }, which, o) =>
  which === "before" || !afterCursor.alive[o] ? beforeCursor.step : afterCursor.step;

/**
 * Every node of a pane with every group around it, up to the one around all.
 * @param {Session} s @param {Which} which @param {(o: number, group: number) => void} each
 */
export function eachInside({ union, tree, beforeCursor, afterCursor }, which, each) {
  const { alive } = which === "before" ? beforeCursor : afterCursor;
  for (let o = 0; o < union.recs.length; o++)
    if (alive[o]) for (const g of tree.around(union.slotOf[o])) each(o, g.at);
}

/** What such a sum is made from. @param {Session} s */
export const stamp = (s) => [s, s.folds, s.beforeCursor.step, s.afterCursor.step];
