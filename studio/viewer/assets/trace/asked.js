// @ts-check
// Which passes looked at a node: `optimizer/rewrite/why.py` in the browser. Each pass looks at every
// node it has rules for, from the moment the node is there; so those that say nothing looked, too.

/** @typedef {[number, number]} Moment a round, and a pass's place in the order */

/**
 * Passes that looked at a node and found no match.
 * @param {StepsJson} trace @param {Provenance} provenance @param {NodeRecord} rec
 * @param {Set<number>} named passes that said something of it
 */
export function silentPasses(trace, provenance, rec, named) {
  const made = provenance.born.get(rec.id);
  const gone = provenance.left.get(rec.id);
  const when = (/** @type {number} */ n) => moment(trace, trace.steps[n - 1]);
  const since = made ? when(made) : /** @type {Moment} */ ([1, -1]);
  const stopped = trace.stopped ? trace.steps.length : 0;
  const until = gone ? when(gone.n) : stopped ? when(stopped) : [Infinity, Infinity];
  return trace.passes.filter((pass, index) => {
    if (!pass.enabled || named.has(index) || !isFor(pass, rec)) return false;
    const first = firstLook(pass, pass.place ?? index, since);
    return first !== null && before(first, until);
  });
}

/** Passes, on or off, with a rule for such an operator by name. @param {StepsJson} trace @param {NodeRecord} rec */
export const passesFor = (trace, rec) =>
  trace.passes.filter(({ roots }) => roots?.includes(operatorOf(rec)));

/** @param {StepsJson} trace @param {StepRecord} step @returns {Moment} */
const moment = ({ passes }, step) => {
  const { last, place = step.pass } = passes[step.pass] ?? {};
  return [last ? Infinity : step.round, place];
};

/** @param {PassRecord} pass @param {number} place @param {Moment} since @returns {Moment | null} */
function firstLook({ last }, place, since) {
  if (last) return before([Infinity, place], since) ? null : [Infinity, place];
  return since[0] === Infinity ? null : [since[0] + (place < since[1] ? 1 : 0), place];
}

/** @param {number[]} a @param {number[]} b */
const before = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** @param {PassRecord} pass @param {NodeRecord} rec */
const isFor = ({ roots = [] }, rec) => roots.includes("*") || roots.includes(operatorOf(rec));

/** As rules name it. @param {NodeRecord} rec */
const operatorOf = ({ domain, op }) => (domain ? `${domain}::${op}` : op);
