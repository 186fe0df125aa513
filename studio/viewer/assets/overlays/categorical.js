// @ts-check
// An overlay of names: a node has the colour of what its first output is, a closed group that of most
// nodes in it, and a wire carries the name of what flows in it.

import { Comparison } from "../session/comparison.js";
import { COLOURS } from "../page/theme.js";
import { Stamped } from "../page/stamped.js";
import { NODE } from "../trace/union.js";
import { eachInside, stamp, stepShown } from "./panes.js";

const UNKNOWN = "not known";
const ALL = 0; // the group around all others
const MOST_NAMED = 6; // in the legend, of the names that share a colour

/**
 * @typedef {object} Category of one box
 * @property {string} name "" where nothing is known; of a group, that of most nodes in it
 * @property {Map<string, number> | null} inside nodes in a group, by name
 * @property {string} finding
 */

/** @typedef {{names: Map<string, number>, finding: string}} Inside of a group */

/** @implements {OverlayOf<Category>} */
export class Categorical {
  /**
   * @param {Map<string, number>} frequencies of all names
   * @param {{usual: string[], word: string}} how usual: names that have the same colours everywhere;
   *   word: what is named
   */
  constructor(frequencies, { usual, word }) {
    /** @type {import("./overlay.js").Choice[]} */ this.choices = [];
    this.choice = "";
    this.ofSource = true;
    this.word = word;
    /** colours by name, the names in the legend's order */ this.places = placesOf(
      frequencies,
      usual,
    );
    /** @type {Stamped<Map<number, Inside>>} by group */ this.sums = new Stamped();
  }

  /**
   * What an output of a node is, "" where nobody knows.
   * @param {Session} _s @param {number} _o @param {number} _port @param {number} _step
   */
  nameOf(_s, _o, _port, _step) {
    return "";
  }

  /** From what into what a node turns it, "" if it does not. @param {Session} _s @param {number} _o @param {number} _step */
  changeOf(_s, _o, _step) {
    return "";
  }

  /** What is wrong at a node. @param {Session} _s @param {number} _o @param {number} _step */
  findingOf(_s, _o, _step) {
    return "";
  }

  /** @param {string} _id @param {Session} _s @returns {[string, string][]} */
  rows(_id, _s) {
    return [];
  }

  /** @param {Session} s @param {Which} which @returns {(box: Box) => Category | null} */
  values(s, which) {
    return ({ group, occ }) => {
      if (group) return ofGroup(this.#inside(s, which).get(group.at));
      const step = stepShown(s, which, occ);
      const finding = this.findingOf(s, occ, step);
      return { name: this.nameOf(s, occ, 0, step), inside: null, finding };
    };
  }

  /** @param {Session} s @param {Which} which */
  #inside(s, which) {
    return this.sums.get(which, stamp(s), () => {
      /** @type {Map<number, Inside>} */
      const groups = new Map();
      eachInside(s, which, (o, group) => {
        if (s.union.kind[o] !== NODE) return;
        const step = stepShown(s, which, o);
        const inside = groups.get(group) ?? { names: new Map(), finding: "" };
        const name = this.nameOf(s, o, 0, step);
        inside.names.set(name, (inside.names.get(name) ?? 0) + 1);
        inside.finding ||= this.findingOf(s, o, step);
        groups.set(group, inside);
      });
      return groups;
    });
  }

  /** @param {Theme} theme @param {{name: string}} category */
  colour(theme, { name }) {
    if (name) return theme.palette(this.places.get(name));
    return { tint: theme.bg, edge: theme.border, solid: theme.faint };
  }

  /** Of a node, its wires say it. @param {Category} category */
  label({ name, inside }) {
    const others = inside ? [...inside.keys()].filter((other) => other && other !== name) : [];
    return inside ? `${name}${others.length ? ` +${others.length}` : ""}` : "";
  }

  /** @param {Category} category */
  text({ name, inside, finding }) {
    const all = [...(inside ?? [])].sort(([, a], [, b]) => b - a);
    const counts = all.map(([each, count]) => `${each || UNKNOWN} ${count}`).join(", ");
    return [`${this.word} ${inside ? counts : name || UNKNOWN}`, finding]
      .filter(Boolean)
      .join(". ");
  }

  /**
   * @param {Session} s @param {Which} which @param {Theme} theme
   * @returns {(edge: number) => import("./overlay.js").WireTag | null}
   */
  wires(s, which, theme) {
    return (edge) => {
      const o = s.union.from[edge];
      const step = stepShown(s, which, o);
      const name = this.nameOf(s, o, s.union.fromPort[edge], step);
      if (!name) return null;
      const change = this.changeOf(s, o, step);
      return { text: change || name, shade: this.colour(theme, { name }), changes: !!change };
    };
  }

  /** How many nodes are what, in each pane. @param {Session} s @param {Theme} theme */
  legend(s, theme) {
    const heads = s instanceof Comparison ? ["A", "B"] : s.trace ? ["before", "after"] : [""];
    const panes = /** @type {Which[]} */ (heads.length > 1 ? ["before", "after"] : ["after"]);
    const counts = panes.map((which) => this.#inside(s, which).get(ALL)?.names ?? new Map());
    const of = (/** @type {string} */ name) => counts.map((names) => names.get(name) ?? 0);
    const row = (/** @type {string} */ name, text = name) => ({
      text,
      shade: this.colour(theme, { name }),
      counts: of(name),
    });
    const there = [...this.places.keys()].filter((name) => of(name).some(Boolean));
    const [own, shared] = [true, false].map((is) =>
      there.filter((name) => (this.places.get(name) ?? COLOURS) < COLOURS === is),
    );
    const rows = [...own, ...shared.slice(0, MOST_NAMED)].map((name) => row(name));
    const rest = shared.slice(MOST_NAMED);
    if (rest.length) {
      const sum = counts.map((_, i) => rest.reduce((n, name) => n + of(name)[i], 0));
      rows.push({ ...row(rest[0], `${rest.length} more`), counts: sum });
    }
    if (of("").some(Boolean)) rows.push(row("", UNKNOWN));
    return {
      categories: { heads, rows },
      note: "of a node's first output",
      hint: "",
      choosing: "",
    };
  }
}

/** @param {Inside | undefined} inside @returns {Category | null} */
function ofGroup(inside) {
  if (!inside) return null;
  const known = [...inside.names].filter(([name]) => name).sort(([, a], [, b]) => b - a);
  return { name: known[0]?.[0] ?? "", inside: inside.names, finding: inside.finding };
}

/**
 * Which colour each name has: the usual ones theirs, the most frequent others what is left, all
 * others the last one.
 * @param {Map<string, number>} frequencies @param {string[]} usual
 * @returns {Map<string, number>}
 */
function placesOf(frequencies, usual) {
  const names = [...frequencies.keys()].filter(Boolean);
  const more = names.filter((name) => !usual.includes(name));
  more.sort((a, b) => (frequencies.get(b) ?? 0) - (frequencies.get(a) ?? 0));
  /** @type {Map<string, number>} */
  const places = new Map();
  for (const [at, name] of usual.entries()) if (frequencies.has(name)) places.set(name, at);
  const taken = new Set(places.values());
  const free = Array.from({ length: COLOURS }, (_, at) => at).filter((at) => !taken.has(at));
  for (const name of more) places.set(name, free.shift() ?? COLOURS);
  return places;
}

/** How often each occurs. @param {Iterable<string>} names */
export function frequenciesOf(names) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
  return found;
}
