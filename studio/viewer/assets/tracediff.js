// @ts-check
// Two traces of one graph: which rewrites both have, which only one.

/** @typedef {import("./types.js").StepRecord} StepRecord */
/** @typedef {import("./session.js").Session} Session */

/**
 * The steps that only one of two traces has. A step is in both when its match is; or when the same
 * rule rewrites what comes from the same source nodes, for nodes made on the way may be numbered
 * differently.
 * @param {Session} before
 * @param {Session} after
 * @returns {{gone: StepRecord[], fresh: StepRecord[]}}
 */
export function differingSteps(before, after) {
  const [gone, fresh] = without(before.steps, after.steps, (step) => step.match);
  const places = new Map();
  for (const [session, steps] of /** @type {const} */ ([
    [before, gone],
    [after, fresh],
  ]))
    for (const step of steps) places.set(step, placeOf(session, step));
  const [lost, made] = without(gone, fresh, (step) => places.get(step));
  return { gone: lost, fresh: made };
}

/**
 * What is left of two lists when equals are taken away in pairs.
 * @param {StepRecord[]} a @param {StepRecord[]} b @param {(step: StepRecord) => string} key
 */
function without(a, b, key) {
  const inA = tally(a, key);
  const inB = tally(b, key);
  return [a.filter((step) => !take(inB, key(step))), b.filter((step) => !take(inA, key(step)))];
}

/** @param {StepRecord[]} steps @param {(step: StepRecord) => string} key */
function tally(steps, key) {
  /** @type {Map<string, number>} */ const counts = new Map();
  for (const step of steps) counts.set(key(step), (counts.get(key(step)) ?? 0) + 1);
  return counts;
}

/** @param {Map<string, number>} counts @param {string} key */
function take(counts, key) {
  const n = counts.get(key) ?? 0;
  counts.set(key, n - 1);
  return n > 0;
}

/**
 * Pass, rule and source nodes of a step; where only constants come and go, what it says of them.
 * @param {Session} s @param {StepRecord} step
 */
function placeOf(s, step) {
  const { family } = s.history;
  const sources = new Set(step.matched.flatMap((id) => family.origins(id, step.n - 1)));
  const place = step.removed.length + step.added.length ? [...sources].sort() : step.why;
  return JSON.stringify([s.trace?.passes[step.pass]?.id, step.rule, place]);
}
