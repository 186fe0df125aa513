// @ts-check
// What a node says of itself from some step on: changed in place, or only reading other values.

/**
 * @typedef {object} Later a record that holds from step `n` on
 * @property {number} n
 * @property {NodeRecord} rec
 * @property {boolean} marked false where the node itself is as before, but not what it reads
 */

/**
 * The records stay where the trace has them; here is only the order to look them up in.
 * @param {StepsJson | null} trace
 * @param {Map<string, number>} index id -> occupant
 * @returns {Map<number, Later[]>}
 */
export function laterRecords(trace, index) {
  /** @type {Map<number, Later[]>} */
  const later = new Map();
  for (const step of trace?.steps ?? []) {
    const changed = step.changed ?? {};
    for (const [id, rec] of Object.entries(changed))
      add(later, index.get(id), { n: step.n, rec, marked: true });
    for (const [id, rec] of Object.entries(step.updated ?? {}))
      if (!Object.hasOwn(changed, id)) add(later, index.get(id), { n: step.n, rec, marked: false });
  }
  return later;
}

/** @param {Map<number, Later[]>} later @param {number | undefined} o @param {Later} entry */
function add(later, o, entry) {
  if (o === undefined) return;
  const list = later.get(o);
  if (list) list.push(entry);
  else later.set(o, [entry]);
}
