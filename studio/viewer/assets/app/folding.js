// @ts-check
// Opening and closing groups, and bringing what they hide into sight.

import { showBox, showChange, showTop } from "../canvas/framing.js";
import { MOTION_MS } from "../canvas/stage.js";

const SMALL_GROUP = 70; // slots; a larger group is not opened on its own, it carries a badge

export class Folding {
  /** @param {State} state @param {Stage} stage */
  constructor(state, stage) {
    this.state = state;
    this.stage = stage;
    this.toggleMs = 0;
  }

  /** @param {Group} group @param {boolean} [want] */
  toggle(group, want) {
    const { session: s } = this.state;
    if (!s || group === s.tree.root) return;
    const started = performance.now();
    this.state.opened.delete(group.id);
    s.tree.set(group, want ?? !s.tree.open[group.at]);
    this.#folded(s, MOTION_MS, s.layout.slots + group.at);
    this.state.changed("view");
    this.toggleMs = performance.now() - started;
  }

  /** Open what hides a node or a group and bring it to the middle. @param {string} id */
  reveal(id) {
    const { session: s } = this.state;
    const o = s?.union.index.get(id);
    const group = s?.tree.byId.get(id);
    const ms = this.state.ms(MOTION_MS);
    if (s && o === undefined && group?.parent) {
      this.#openAll(s, s.tree.closedFrom(group.parent));
      const there = s.tally.after[group.at] > 0;
      showBox(this.stage, s.layout.slots + group.at, ms, there ? "after" : "before");
    }
    if (!s || o === undefined) return;
    const target =
      s.afterCursor.alive[o] || s.beforeCursor.alive[o] ? o : (s.counterparts(o)[0] ?? o);
    const slot = s.union.slotOf[target];
    this.#openAll(s, s.tree.closedAbove(slot));
    showBox(this.stage, slot, ms, s.afterCursor.alive[target] ? "after" : "before");
  }

  /** @param {Session} s @param {Group[]} closed outermost first */
  #openAll(s, closed) {
    if (!closed.length) return;
    for (const g of closed) {
      s.tree.set(g, true);
      this.state.opened.delete(g.id);
    }
    this.#folded(s, 0, s.layout.slots + closed[0].at);
  }

  /**
   * Open all groups (one more level of a large graph), fold all, or as at first.
   * @param {"more" | "none" | "first"} what
   */
  foldAll(what) {
    const { session: s } = this.state;
    if (!s) return;
    if (what === "first") s.tree.openFirst();
    else if (what === "more") s.tree.openMore();
    else s.tree.openExactly([]);
    this.state.opened.clear();
    s.relayout();
    this.stage.refresh(0);
    showTop(this.stage);
    if (what !== "first" && this.state.stepped) showChange(this.stage, 0);
    this.state.changed("folding", "view");
  }

  /** Open or close the group that is selected, or around what is selected; the outermost that hides it. */
  foldSelected() {
    const { session: s, selection } = this.state;
    const o = selection?.node;
    const group = o === undefined ? selection?.group : s?.tree.groupOf[s.union.slotOf[o]];
    if (s && group) this.toggle(s.tree.closedFrom(group)[0] ?? group);
  }

  /** Open a small closed group around the change, close the one opened before. @param {Session} s */
  openAroundChange(s) {
    /** @type {Set<Group>} */
    const need = new Set();
    const keep = new Set();
    for (const o of Object.values(s.touched()).flatMap((set) => [...set])) {
      if (!s.beforeCursor.alive[o] && !s.afterCursor.alive[o]) continue;
      for (const g of s.tree.closedAbove(s.union.slotOf[o])) need.add(g);
      for (const g of s.tree.around(s.union.slotOf[o])) keep.add(g.id);
    }
    const { opened } = this.state;
    const boxes = [...need].reduce((sum, g) => sum + g.slots.length + g.kids.length, 0);
    const opens = boxes <= SMALL_GROUP ? [...need] : [];
    const closes = [...opened].filter((id) => !keep.has(id));
    if (!opens.length && !closes.length) return;
    for (const id of closes) {
      const g = s.tree.byId.get(id);
      if (g) s.tree.set(g, false);
      opened.delete(id);
    }
    for (const g of opens) {
      s.tree.set(g, true);
      opened.add(g.id);
    }
    this.#folded(s, MOTION_MS, opens.length ? s.layout.slots + opens[0].at : undefined);
    showChange(this.stage, this.state.ms(MOTION_MS));
  }

  /** @param {Session} s @param {number} ms @param {number} [anchor] the box that stays where it is */
  #folded(s, ms, anchor) {
    s.relayout();
    this.stage.refresh(this.state.ms(ms), { anchor });
    this.state.changed("folding");
  }
}
