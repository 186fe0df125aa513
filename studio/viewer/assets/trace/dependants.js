// @ts-check
// Which later steps build on one: what a veto may take away with it.

/**
 * Steps that would not be there without this one, or without one of those; as far as the trace knows.
 * @param {StepRecord[]} steps @param {number} n
 * @returns {number[]} their numbers, in order
 */
export function dependants(steps, n) {
  const building = new Set([n]);
  for (const step of steps.slice(n))
    if (step.depends?.some((earlier) => building.has(earlier))) building.add(step.n);
  building.delete(n);
  return [...building];
}
