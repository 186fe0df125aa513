// @ts-check
// The tree of groups over the slots of the union, and which of them are open.

import { chunkLeaves, chunkSiblings } from "./chunk.js";
import { ancestry, Group } from "./group.js";

const FIRST_BOXES = 150;
const MOST_BOXES = 2000; // beyond, groups open one level at a time

export class FoldTree {
  /** @param {Union} union */
  constructor(union) {
    this.union = union;
    this.root = buildTree(union);
    /** @type {Group[]} parents before children */
    this.groups = [];
    /** @type {Map<string, Group>} */
    this.byId = new Map();
    /** @type {Group[]} innermost group of each slot */
    this.groupOf = new Array(union.occupants.length).fill(this.root);
    for (const queue = [this.root]; queue.length; ) {
      const g = /** @type {Group} */ (queue.shift());
      g.at = this.groups.push(g) - 1;
      this.byId.set(g.id, g);
      for (const s of g.slots) this.groupOf[s] = g;
      queue.push(...g.kids);
    }
    this.open = new Uint8Array(this.groups.length);
    this.open[0] = 1;
    /** @type {Int32Array} highest closed group at or above each group, -1 = none */
    this.shut = new Int32Array(this.groups.length);
    this.openFirst();
  }

  /** Open groups breadth first while few enough boxes show. */
  openFirst() {
    this.open.fill(0);
    this.open[0] = 1;
    let shown = boxes(this.root);
    for (let level = [this.root]; level.length; ) {
      const families = siblingsAlike(level.flatMap((g) => (this.open[g.at] ? g.kids : [])));
      for (const family of families) {
        const cost = boxes(family[0]) - 1;
        const all = family.reduce((sum, g) => sum + boxes(g) - 1, 0);
        const take =
          shown + all <= FIRST_BOXES ? family : shown + cost <= FIRST_BOXES ? [family[0]] : [];
        for (const g of take) {
          this.open[g.at] = 1;
          shown += boxes(g) - 1;
        }
      }
      level = families.flat();
    }
    this.settle();
  }

  /** @param {Iterable<string>} ids */
  openExactly(ids) {
    this.open.fill(0);
    this.open[0] = 1;
    for (const id of ids) {
      const g = this.byId.get(id);
      if (g) this.open[g.at] = 1;
    }
    this.settle();
  }

  /** @param {Group} g @param {boolean} want */
  set(g, want) {
    if (g === this.root) return;
    this.open[g.at] = want ? 1 : 0;
    this.settle();
  }

  /** Open every group; in a large graph only those that show. */
  openMore() {
    if (this.union.occupants.length <= MOST_BOXES) this.open.fill(1);
    else for (const g of this.groups) if (this.shut[g.at] === g.at) this.open[g.at] = 1;
    this.settle();
  }

  settle() {
    for (const g of this.groups) {
      const above = g.parent ? this.shut[g.parent.at] : -1;
      this.shut[g.at] = above >= 0 ? above : this.open[g.at] ? -1 : g.at;
    }
  }

  /**
   * What was opened (+) and closed (-) since the first folding, or null: short enough for a link.
   * @returns {string[] | null}
   */
  openChanges() {
    const now = this.open.slice();
    this.openFirst();
    const first = this.open.slice();
    this.open.set(now);
    this.settle();
    const changes = this.groups
      .filter((g) => now[g.at] !== first[g.at])
      .map((g) => `${now[g.at] ? "+" : "-"}${g.id}`);
    return changes.length ? changes : null;
  }

  /**
   * Group ids that are open; or, with a sign before each, changes to the first folding.
   * @param {string[]} ids
   */
  openAs(ids) {
    if (!ids.every((id) => id[0] === "+" || id[0] === "-")) {
      this.openExactly(ids);
      return;
    }
    this.openFirst();
    for (const id of ids) {
      const g = this.byId.get(id.slice(1));
      if (g?.parent) this.open[g.at] = id[0] === "+" ? 1 : 0;
    }
    this.settle();
  }

  openIds() {
    return this.groups.filter((g) => g.parent && this.open[g.at]).map((g) => g.id);
  }

  /**
   * The box that stands for a slot: the slot itself, or slots + index of the closed group.
   * @param {number} s
   */
  boxOf(s) {
    const shut = this.shut[this.groupOf[s].at];
    return shut < 0 ? s : this.union.occupants.length + shut;
  }

  /** Groups that a slot is in, innermost first. @param {number} s */
  around(s) {
    return [...ancestry(this.groupOf[s])];
  }

  /** Closed groups to open so that a slot shows, outermost first. @param {number} s */
  closedAbove(s) {
    return this.closedFrom(this.groupOf[s]);
  }

  /** The same for a group, and what is around it. @param {Group} group */
  closedFrom(group) {
    return [...ancestry(group)].filter((g) => !this.open[g.at]).reverse();
  }
}

/** @param {Group} g */
const boxes = (g) => g.kids.length + g.slots.length;

/**
 * Siblings that look the same open together or one for all; small ones first.
 * @param {Group[]} list
 */
function siblingsAlike(list) {
  const alike = (/** @type {Group} */ g) =>
    `${g.parent?.at}|${g.name.replace(/\d+/g, "#")}|${boxes(g)}`;
  return [...Map.groupBy(list, alike).values()].sort((a, b) => boxes(a[0]) - boxes(b[0]));
}

/** @param {Union} union @returns {Group} */
function buildTree(union) {
  const raw = union.graph.groups.length ? union.graph.groups : [{ id: "", name: "", parent: -1 }];
  /** @type {Group[]} */
  const all = raw.map((r) => new Group(r.id, r.name, r.repeat));
  raw.forEach((r, i) => {
    const parent = i ? (all[r.parent] ?? all[0]) : null;
    all[i].parent = parent === all[i] ? all[0] : parent;
    if (i && all[i].parent) all[i].parent.kids.push(all[i]);
  });
  const slots = Array.from(union.order, (_, s) => s).sort(
    (a, b) => union.order[a] - union.order[b],
  );
  for (const s of slots) (all[union.slotGroup[s]] ?? all[0]).slots.push(s);
  const root = all[0];
  simplify(root, union);
  count(root);
  dropWrappers(root, root.count, union);
  count(root);
  if (root.count > FIRST_BOXES) {
    chunkLeaves(root, union);
    chunkSiblings(root);
    count(root);
  }
  return root;
}

/**
 * A group of one node says nothing; a group holding only one group is that group.
 * @param {Group} g
 * @param {Union} union
 */
function simplify(g, union) {
  for (const kid of [...g.kids]) {
    simplify(kid, union);
    if (!kid.kids.length && kid.slots.length < 2) {
      g.kids.splice(g.kids.indexOf(kid), 1);
      g.slots.push(...kid.slots);
    } else if (kid.kids.length === 1 && !kid.slots.length) {
      const inner = kid.kids[0];
      inner.name = `${kid.name}/${inner.name}`;
      inner.repeat = Math.max(inner.repeat, kid.repeat);
      inner.parent = g;
      g.kids[g.kids.indexOf(kid)] = inner;
    }
  }
  g.slots.sort((a, b) => union.order[a] - union.order[b]);
}

/**
 * A group around nearly everything (the name of the whole model) only indents.
 * @param {Group} root
 * @param {number} total
 * @param {Union} union
 */
function dropWrappers(root, total, union) {
  for (let again = true; again; ) {
    again = false;
    for (const kid of [...root.kids]) {
      if (kid.count < total * 0.8 || !kid.kids.length) continue;
      root.kids.splice(root.kids.indexOf(kid), 1, ...kid.kids);
      for (const k of kid.kids) k.parent = root;
      root.slots.push(...kid.slots);
      again = true;
    }
  }
  root.slots.sort((a, b) => union.order[a] - union.order[b]);
}

/** @param {Group} g @returns {number} */
function count(g) {
  g.count = g.slots.length;
  for (const k of g.kids) g.count += count(k);
  return g.count;
}
