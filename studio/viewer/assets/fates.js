// @ts-check
// What became of a removed node: merged into new ones, folded into a constant, or bypassed.

/**
 * @typedef {object} Fate
 * @property {number[]} heirs new nodes that give its values now
 * @property {number[]} bypass older nodes and inputs that its readers take instead
 * @property {boolean} folded into a constant
 */

const INITIALIZER = /(^|~)w\d+$/;

/**
 * Fates of the nodes that a step removes, from the values that stand for theirs.
 * @param {import("./types.js").StepRecord} step
 * @param {Map<string, number>} index id -> occupant
 * @returns {Map<number, Fate>}
 */
export function fatesOf(step, index) {
  /** @type {Map<number, Fate>} */
  const fates = new Map();
  const added = new Set(step.added);
  const removed = new Set(step.removed);
  let folds = 0;
  const pairs = Object.entries(step.into ?? {});
  for (const [from, to] of pairs) {
    const target = owner(to);
    const folded = constant(to, index);
    if (folded) folds++;
    const o = index.get(owner(from));
    const heir = index.get(target);
    if (o === undefined || !removed.has(owner(from))) continue;
    const fate = fates.get(o) ?? { heirs: [], bypass: [], folded: false };
    fates.set(o, fate);
    if (folded) fate.folded = true;
    else if (heir !== undefined) {
      const list = added.has(target) ? fate.heirs : fate.bypass;
      if (!list.includes(heir)) list.push(heir);
    }
  }
  if (pairs.length && folds === pairs.length) foldAll(step, index, fates);
  return fates;
}

/**
 * Nodes inside the pattern have no value that anybody else reads: they share the pattern's fate.
 * @param {import("./types.js").StepRecord} step @param {Map<string, number>} index
 * @param {Map<number, Fate>} fates
 */
function foldAll(step, index, fates) {
  for (const id of step.removed) {
    const o = index.get(id);
    if (o !== undefined && !fates.has(o)) fates.set(o, { heirs: [], bypass: [], folded: true });
  }
}

/** The node, input or initializer that a value belongs to. @param {string} value */
const owner = (value) => value.split(":")[0];

/** Constant nodes are not drawn, so no record knows them. @param {string} value @param {Map<string, number>} index */
const constant = (value, index) =>
  INITIALIZER.test(value) || (value.includes(":") && !index.has(owner(value)));
