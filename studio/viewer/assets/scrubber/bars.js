// @ts-check
// The bars of a strip of steps: one a step where there is room, else several steps in one. Heights
// grow with the square root; what towers over the rest is cut off.

/**
 * @typedef {object} Bar steps from + 1 to `to`
 * @property {number} from @property {number} to
 * @property {number} saving of all its steps together; negative = it costs
 * @property {[number, number][]} parts pass and saving of what saves, in the order of the steps
 */

const LEAST_PX = 3; // a bar that can be seen and hit
const USUAL = 0.95; // share of the bars that must fit below the cut
const TOWERS = 2; // times as high as those: then there is a cut
const BELOW_CUT = 0.72; // of the height, for all that is not cut off

/** How many steps one bar stands for: 1, 2, 5, 10, … @param {number} steps @param {number} px */
export function stepsPerBar(steps, px) {
  const need = (steps * LEAST_PX) / Math.max(1, px);
  if (need <= 1) return 1;
  const ten = 10 ** Math.floor(Math.log10(need));
  return [1, 2, 5, 10].map((f) => f * ten).find((each) => each >= need) ?? 10 * ten;
}

/**
 * @param {StepRecord[]} steps @param {number} each steps in a bar
 * @param {(step: StepRecord) => number} saving
 * @returns {Bar[]}
 */
export function makeBars(steps, each, saving) {
  const bars = [];
  for (let from = 0; from < steps.length; from += each) {
    const to = Math.min(steps.length, from + each);
    /** @type {Map<number, number>} */
    const parts = new Map();
    let sum = 0;
    for (const step of steps.slice(from, to)) {
      const saved = saving(step);
      sum += saved;
      parts.set(step.pass, (parts.get(step.pass) ?? 0) + Math.max(0, saved));
    }
    bars.push({ from, to, saving: sum, parts: [...parts] });
  }
  return bars;
}

/**
 * The scale of all bars: share of the height for a saving, and whether that is cut off.
 * @param {Bar[]} bars @returns {(saving: number) => {share: number, cut: boolean}}
 */
export function scaleOf(bars) {
  const sizes = bars.map((b) => Math.sqrt(Math.abs(b.saving))).filter((v) => v > 0);
  sizes.sort((a, b) => a - b);
  const most = sizes[sizes.length - 1] ?? 1;
  const usual = sizes[Math.ceil(sizes.length * USUAL) - 1] ?? 1;
  if (most <= usual * TOWERS)
    return (saving) => ({ share: Math.sqrt(Math.abs(saving)) / most, cut: false });
  return (saving) => {
    const size = Math.sqrt(Math.abs(saving));
    const cut = size > usual;
    return { share: cut ? 1 : (size / usual) * BELOW_CUT, cut };
  };
}
