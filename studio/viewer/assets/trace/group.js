// @ts-check
// A group of boxes: a name scope, or a run of siblings chunked together.

/**
 * @typedef {object} Group
 * @property {string} id
 * @property {string} name
 * @property {Group | null} parent
 * @property {Group[]} kids
 * @property {number[]} slots direct members, in list order
 * @property {number} count slots below, at any depth
 * @property {number} repeat
 * @property {number} at place in `FoldTree.groups`, parents first
 */

/** @param {string} id @param {string} name @param {number} [repeat] @returns {Group} */
export function newGroup(id, name, repeat = 0) {
  return {
    id,
    name,
    parent: null,
    kids: [],
    slots: [],
    count: 0,
    repeat: repeat > 1 ? repeat : 0,
    at: 0,
  };
}

/** A group and those around it, innermost first. @param {Group | null | undefined} group */
export function* ancestry(group) {
  for (let g = group; g; g = g.parent) yield g;
}
