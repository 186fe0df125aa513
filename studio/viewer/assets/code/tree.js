// @ts-check
// The nest as a tree: which nodes stand in which.

/** @typedef {import("./types.js").Level} Level */

export class Tree {
  /** @param {number[]} depths in the order of the nest's text */
  constructor(depths) {
    this.size = depths.length;
    /** @type {number[]} -1 of the outermost */
    this.parents = [];
    /** @type {number[]} the node behind the last one inside */
    this.ends = depths.map((depth, n) => {
      const next = depths.findIndex((other, at) => at > n && other <= depth);
      return next < 0 ? depths.length : next;
    });
    for (let n = 0; n < depths.length; n++) {
      let parent = n - 1;
      while (parent >= 0 && depths[parent] >= depths[n]) parent = this.parents[parent];
      this.parents.push(parent);
    }
  }

  /** Whether a node is another one, or stands in it. @param {number} node @param {number} other */
  isIn(node, other) {
    return node >= other && node < this.ends[other];
  }

  /**
   * Lines of a level that are code of nodes. Where there are none, since a loop was written out,
   * those of the nearest node around that has some.
   * @param {Level} level @param {number[]} nodes
   * @returns {{lines: number[], around: boolean}}
   */
  lines(level, nodes) {
    let wanted = nodes;
    let around = false;
    while (wanted.length) {
      const found = [];
      for (let line = 0; line < level.nodes.length; line++) {
        const own = level.nodes[line];
        if (own.some((node) => wanted.some((other) => this.isIn(node, other)))) found.push(line);
      }
      if (found.length) return { lines: found, around };
      around = true;
      wanted = [...new Set(wanted.map((node) => this.parents[node]))].filter((node) => node >= 0);
    }
    return { lines: [], around: false };
  }
}
