// @ts-check
// What is selected, a node or a group: the boxes that show it, and the steps that touch it.

import { NODE } from "../trace/union.js";

export class Selection {
  /** @param {Session} session @param {string} id of a node, or of a group */
  constructor(session, id) {
    this.session = session;
    this.id = id;
    const { union, tree } = session;
    /** @type {number | undefined} occupant, of a node */
    this.node = union.index.get(id);
    /** @type {Group | null} */
    this.group = this.node === undefined ? (tree.byId.get(id) ?? null) : null;
    /** @type {number[]} steps that touch it; of a node, also what it was made from and became */
    this.steps = this.group
      ? session.touches.ofAll(this.members.map((o) => union.recs[o].id))
      : session.stepsOf(id);
  }

  /** @returns {number[]} all nodes that a group ever holds */
  get members() {
    const { occupants } = this.session.union;
    return this.group ? below(this.group).flatMap((slot) => occupants[slot]) : [];
  }

  /** @returns {string | null} id of the group around it */
  get around() {
    const { tree, union } = this.session;
    const around =
      this.node === undefined ? this.group?.parent : tree.groupOf[union.slotOf[this.node]];
    return around?.parent ? around.id : null;
  }

  /** @returns {Set<number>} boxes that stand for it now, for what it was made from and became */
  boxes() {
    const { union, tree, layout } = this.session;
    const keys = new Set();
    const { node: o, group } = this;
    if (group) {
      const shut = tree.shut[group.at];
      keys.add(layout.slots + (shut < 0 ? group.at : shut));
    }
    if (o === undefined) return keys;
    keys.add(tree.boxOf(union.slotOf[o]));
    for (const other of this.session.counterparts(o)) keys.add(tree.boxOf(union.slotOf[other]));
    return keys;
  }

  /** @returns {Set<number>} boxes drawn inside, of an open group */
  inside() {
    const { tree, layout } = this.session;
    const keys = new Set();
    if (!this.group || tree.shut[this.group.at] >= 0) return keys;
    for (const slot of below(this.group)) keys.add(tree.boxOf(slot));
    for (const g of groupsBelow(this.group)) keys.add(layout.slots + g.at);
    return keys;
  }

  /**
   * Nodes by operator in some states of the graph, the most first.
   * @param {import("./session.js").Snapshot[]} states
   * @returns {Map<string, number[]>} as many counts as states
   */
  operators(states) {
    const { union } = this.session;
    /** @type {Map<string, number[]>} */
    const rows = new Map();
    for (const o of this.members) {
      if (union.kind[o] !== NODE) continue;
      const alive = states.map(({ has }) => Number(has(o)));
      if (!alive.includes(1)) continue;
      const { op } = union.recs[o];
      const known = rows.get(op);
      rows.set(op, known ? known.map((n, i) => n + alive[i]) : alive);
    }
    return new Map([...rows].sort(([, a], [, b]) => Math.max(...b) - Math.max(...a)));
  }
}

/** Slots below a group, at any depth. @param {Group} group @returns {number[]} */
const below = (group) => [...group.slots, ...group.kids.flatMap(below)];

/** @param {Group} group @returns {Group[]} */
const groupsBelow = (group) => group.kids.flatMap((g) => [g, ...groupsBelow(g)]);

/**
 * What a link names; the name of a group may hold what separates names.
 * @param {Session} session @param {string[]} ids
 */
export const named = (session, ids = []) =>
  [ids.join(","), ids[0]].find((id) => session.knows(id)) ?? null;
