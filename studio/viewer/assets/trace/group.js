// @ts-check
// A group of boxes: a name scope, or a run of siblings chunked together.

export class Group {
  /** @param {string} id @param {string} name @param {number} [repeat] */
  constructor(id, name, repeat = 0) {
    this.id = id;
    this.name = name;
    this.repeat = repeat > 1 ? repeat : 0;
    /** @type {Group | null} */ this.parent = null;
    /** @type {Group[]} */ this.kids = [];
    /** @type {number[]} direct members, in list order */ this.slots = [];
    /** slots below, at any depth */ this.count = 0;
    /** place in `FoldTree.groups`, parents first */ this.at = 0;
  }
}

/** A group and those around it, innermost first. @param {Group | null | undefined} group */
export function* ancestry(group) {
  for (let g = group; g; g = g.parent) yield g;
}
