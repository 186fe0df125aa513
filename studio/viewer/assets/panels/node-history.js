// @ts-check
// The life of a node in the trace: what it was made from, what it took over, what became of it.

import { button, h } from "../page/dom.js";

/** @typedef {import("../session/session.js").Session} Session */

const SHOWN = 24; // nodes listed before "and … more"

/**
 * @param {import("../app/actions.js").Context} context
 * @param {Session} s
 * @param {number} o
 * @param {(o: number) => HTMLElement} chip
 */
export function historySection(context, s, o, chip) {
  if (!s.trace || s.union.kind[o]) return null;
  const { id } = s.union.recs[o];
  const chips = (/** @type {string[]} */ ids) => nodeChips(s, ids, chip);
  const told = s.histories.filter((life) => o < s.union.sources || life.provenance.born.has(id));
  const parts = told.flatMap((life) => {
    const goTo = (/** @type {number} */ n) => stepLink(context, life.target(n), n);
    const where = { ...life, passes: s.trace?.passes ?? [], index: s.union.index };
    const rows = [...origin(where, id, goTo, chips), ...takenOver(where, id, goTo, chips)];
    for (const n of life.changes(o)) rows.push(h("p", "Changed in place, ", goTo(n)));
    rows.push(...end(where, id, goTo, chips));
    return [h("h3", life.title), ...rows];
  });
  return h("section.pl-life", parts);
}

/**
 * @param {import("../app/actions.js").Context} context @param {number | null} target @param {number} n
 * @returns {HTMLElement}
 */
function stepLink(context, target, n) {
  if (target === null) return h("span", `step ${n}`);
  return button(`Go to step ${n}`, `step ${n}`, () => context.actions.goto(target), "pl-link");
}

/**
 * @typedef {import("../session/session.js").TraceHistory & {passes: import("../types.js").PassRecord[],
 *   index: Map<string, number>}} Told
 */
/** @typedef {(n: number) => HTMLElement} GoTo */
/** @typedef {(ids: string[]) => (HTMLElement | string)[]} Chips */

/** @param {Told} told @param {string} id @param {GoTo} goTo @param {Chips} chips */
function origin({ provenance, steps, passes }, id, goTo, chips) {
  const made = provenance.born.get(id);
  if (!made) return [];
  const step = steps[made - 1];
  const from = step.from?.[id] ?? [];
  const by = passes[step.pass]?.title ?? step.rule;
  const rows = [
    h(
      "p",
      from.length ? `Made from ${nodes(from.length)} ` : "Made ",
      chips(from),
      `by ${by}, `,
      goTo(made),
    ),
  ];
  const sources = provenance.origins(id, made);
  if (from.length && sources.some((x) => !from.includes(x)))
    rows.push(h("p", `In the source ${nodes(sources.length)} `, chips(sources)));
  return rows;
}

/**
 * What merged into it, or was removed before it, since it is there.
 * @param {Told} told @param {string} id @param {GoTo} goTo @param {Chips} chips
 */
function takenOver({ provenance }, id, goTo, chips) {
  const made = provenance.born.get(id) ?? 0;
  const rows = [];
  for (const [n, ids] of byStep(provenance.sources.get(id) ?? []))
    if (n !== made) rows.push(h("p", "Took over the work of ", chips(ids), "at ", goTo(n)));
  for (const [n, ids] of byStep(provenance.instead.get(id) ?? [])) {
    const drawn = chips(ids);
    if (drawn.length) rows.push(h("p", "Read instead of ", drawn, "since ", goTo(n)));
  }
  return rows;
}

/** @param {Told} told @param {string} id @param {GoTo} goTo @param {Chips} chips */
function end({ provenance, index }, id, goTo, chips) {
  const gone = provenance.left.get(id);
  const fate = provenance.fate(id);
  if (!gone) {
    const kept = provenance.born.has(id) ? "Stays to the end." : "Kept to the end.";
    const also = fate.into.length ? " Also part of " : "";
    return [h("p", kept, also, chips(fate.into))];
  }
  const others = gone.nodes.filter((x) => x !== id && index.has(x)).length;
  const words = {
    merged: others
      ? `Merged with ${others} ${others === 1 ? "other" : "others"} into `
      : "Replaced by ",
    bypassed: "Removed, its readers take ",
    folded: "Folded into a constant ",
    dead: "Removed, nothing read it any more, ",
    kept: "",
  }[gone.kind];
  const heirs = chips(gone.into);
  if (gone.kind === "bypassed" && !heirs.length) heirs.push("a constant ");
  const rows = [h("p", words, heirs, "at ", goTo(gone.n))];
  const moved = fate.kind !== gone.kind || fate.into.some((x) => !gone.into.includes(x));
  if (moved) rows.push(last(fate, chips));
  return rows;
}

/**
 * Where it led, when what took its place went on to change.
 * @param {{kind: import("../trace/provenance.js").Kind, into: string[]}} fate @param {Chips} chips
 */
function last({ kind, into }, chips) {
  if (kind === "folded") return h("p", "In the end a constant.");
  if (kind === "dead") return h("p", "In the end nothing reads it.");
  const words = kind === "merged" ? "In the end part of " : "In the end its readers take ";
  return h("p", words, chips(into));
}

/** @param {[number, string][]} links @returns {Map<number, string[]>} */
function byStep(links) {
  /** @type {Map<number, string[]>} */ const steps = new Map();
  for (const [when, id] of links) {
    const n = Math.abs(when);
    const ids = steps.get(n);
    if (ids) ids.push(id);
    else steps.set(n, [id]);
  }
  return steps;
}

/**
 * The nodes as buttons, the first two dozen at once.
 * @param {Session} s @param {string[]} ids @param {(o: number) => HTMLElement} chip
 * @returns {(HTMLElement | string)[]}
 */
function nodeChips(s, ids, chip) {
  const known = ids.map((id) => s.union.index.get(id)).filter((o) => o !== undefined);
  const shown = known.slice(0, SHOWN).flatMap((o) => [chip(o), " "]);
  const rest = known.slice(SHOWN);
  if (!rest.length) return shown;
  const all = () => more.replaceWith(...rest.flatMap((o) => [chip(o), " "]));
  const more = button("Show them all", `and ${rest.length} more`, all, "pl-link");
  return [...shown, more, " "];
}

/** @param {number} n */
const nodes = (n) => `${n} ${n === 1 ? "node" : "nodes"}`;
