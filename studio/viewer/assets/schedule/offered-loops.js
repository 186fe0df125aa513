// @ts-check
// Which loops there are to choose from, in the nest as it is at a step.

/** @typedef {{name: string, nest: number, extent: number | string}} OfferedLoop */

/**
 * The loops of a Func, the outermost first; of one that has none in this nest, its axes.
 * @param {import("./lab-state.js").LabState} state @param {string} func @returns {OfferedLoop[]}
 */
export function loopsOf(state, func) {
  const nodes = state.shown?.nodes ?? [];
  const there = nodes.filter((node) => node.kind === "loop" && node.func === func);
  if (there.length)
    return there.map(({ loop, stage, extent }) => ({ name: loop, nest: stage, extent }));
  const found = state.data?.subject.funcs.find(({ name }) => name === func);
  return (found?.axes ?? []).map(([name, extent]) => ({ name, nest: 0, extent }));
}

/** Funcs that have loops or could have some, those of the algorithm first. @param {import("./lab-state.js").LabState} state */
export function funcsOf(state) {
  const known = state.data?.subject.funcs.map(({ name }) => name) ?? [];
  const made = (state.shown?.nodes ?? []).map(({ func }) => func);
  return [...new Set([...known, ...made])];
}

/** Who might read a Func: all others. @param {import("./lab-state.js").LabState} state @param {string} func */
export const readersOf = (state, func) =>
  funcsOf(state)
    .filter((name) => name !== func)
    .reverse();

/** A name that no loop of a Func has. @param {import("./lab-state.js").LabState} state @param {string} func @param {string} wanted */
export function freeName(state, func, wanted) {
  const taken = new Set(loopsOf(state, func).map(({ name }) => name));
  for (const { primitive, func: whose, ...fields } of state.draft.primitives)
    if (whose === func) for (const value of Object.values(fields)) taken.add(value);
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}${number}`;
  return name;
}
