// @ts-check
// The free list as the lazy allocator keeps it: by size, with what the current event asks for, takes
// and leaves.

import { fill, h } from "../page/dom.js";
import { bytesText, counted } from "../page/numbers.js";

/**
 * @typedef {object} Row
 * @property {"free" | "taken" | "new" | "ask"} kind
 * @property {number} offset -1 of a request
 * @property {number} size
 * @property {string} note
 * @property {boolean} small too small for what is asked
 */

const MOST = 80; // rows that are drawn
const TAKEN = { reuse: "fits exactly", split: "best fit", grow: "extended" };

/**
 * The list after the current event, with what it took away still in its place.
 * @param {AllocatorEvents} events @param {Replay} replay @returns {Row[]}
 */
function rowsAt(events, replay) {
  const k = replay.at;
  const asks = k > 0 && events.comes(k);
  const request = asks ? events.size[events.buffer[k - 1]] : 0;
  const kind = k > 0 ? events.kindOf(k) : "";
  const added = new Set(k > 0 ? events.added(k).map((f) => f.offset) : []);
  /** @type {Row[]} */
  const rows = replay.list().map(({ offset, size }) => ({
    kind: added.has(offset) ? "new" : "free",
    offset,
    size,
    note: added.has(offset) ? (asks ? "the rest" : kind === "merge" ? "joined" : "freed") : "",
    small: size < request && !added.has(offset),
  }));
  for (const { offset, size } of k > 0 ? events.removed(k) : []) {
    const note = asks ? TAKEN[/** @type {keyof typeof TAKEN} */ (kind)] : "joins";
    rows.push({ kind: "taken", offset, size, note, small: false });
  }
  if (asks) rows.push({ kind: "ask", offset: -1, size: request, note: "asked for", small: false });
  return rows.sort((a, b) => a.size - b.size || a.offset - b.offset);
}

export class FreeList {
  constructor() {
    this.total = h("span.pl-num");
    this.list = h("ol", { tabindex: 0, "aria-label": "Free blocks by size" });
    this.el = h(
      "section.pl-free",
      { "aria-label": "Free list" },
      h("h3", "Free list of lazy, by size", this.total),
      this.list,
    );
    /** @type {any[]} rows that are used again: nothing is made while a film runs */
    this.pool = [];
  }

  /** @param {AllocatorEvents | null} events @param {Replay | null} replay */
  render(events, replay) {
    if (!events || !replay) {
      fill(this.list);
      return;
    }
    const rows = rowsAt(events, replay);
    const bytes = [...replay.free.values()].reduce((sum, size) => sum + size, 0);
    const n = replay.free.size;
    this.total.textContent = n ? `${counted(n, "block")}, ${bytesText(bytes)}` : "empty";
    const most = rows.reduce((m, row) => Math.max(m, row.size), 1);
    const shown = cutTo(rows);
    while (this.pool.length < shown.length) this.pool.push(makeRow());
    for (const [i, row] of shown.entries()) fillRow(this.pool[i], row, most);
    while (this.list.children.length > shown.length) this.list.lastChild.remove();
    for (let i = this.list.children.length; i < shown.length; i++)
      this.list.append(this.pool[i].el);
    this.#keepInSight(shown);
  }

  /** @param {Row[]} rows */
  #keepInSight(rows) {
    const at = rows.findIndex((row) => row.kind === "taken" || row.kind === "new");
    const row = at < 0 ? null : this.pool[at].el;
    if (!row) return;
    const { scrollTop, clientHeight } = this.list;
    if (row.offsetTop < scrollTop || row.offsetTop + row.offsetHeight > scrollTop + clientHeight)
      this.list.scrollTop = row.offsetTop - clientHeight / 2;
  }
}

/** A very long list around what happens in it. @param {Row[]} rows */
function cutTo(rows) {
  if (rows.length <= MOST) return rows;
  const at = Math.max(
    0,
    rows.findIndex((row) => row.kind !== "free"),
  );
  const from = Math.max(0, Math.min(rows.length - MOST, at - MOST / 2));
  return rows.slice(from, from + MOST);
}

function makeRow() {
  const [size, offset, bar, note] = [h("b"), h("span.pl-num"), h("i"), h("em")];
  const el = h("li", size, offset, h("span.pl-track", bar), note);
  return { el, size, offset, bar, note };
}

/** @param {any} cells @param {Row} row @param {number} most */
function fillRow(cells, row, most) {
  cells.el.className = `pl-is-${row.kind}${row.small ? " pl-small" : ""}`;
  cells.size.textContent = bytesText(row.size);
  cells.offset.textContent = row.offset < 0 ? "" : `at ${bytesText(row.offset)}`;
  cells.bar.style.width = `${Math.max(1, (row.size / most) * 100)}%`;
  cells.note.textContent = row.small ? "too small" : row.note;
}
