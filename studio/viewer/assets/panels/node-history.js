// @ts-check
// The life of a node in the trace: what it was made from, what it took over, what became of it.
// And which passes looked at it and left it: near misses, vetoes, and those that found nothing.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { passesFor, silentPasses } from "../trace/asked.js";
import { nodeChip, restoreLink, stepLink } from "./parts.js";

const SHOWN = 24; // nodes listed before "and … more"

/**
 * @typedef {import("../session/session.js").TraceHistory & {s: Session, goTo: GoTo, chips: Chips}} Told
 */
/** @typedef {(n: number) => HTMLElement} GoTo */
/** @typedef {(ids: string[]) => (HTMLElement | string)[]} Chips */

/** @param {Context} context @param {Session} s @param {number} o */
export function historySection(context, s, o) {
  if (!s.trace || s.union.kind[o]) return null;
  const { id } = s.union.recs[o];
  const chips = (/** @type {string[]} */ ids) => nodeChips(context, s, ids);
  const told = s.histories.filter((life) => o < s.union.sources || life.provenance.born.has(id));
  const parts = told.flatMap((life) => {
    const goTo = (/** @type {number} */ n) => stepLink(context, n, life.target(n));
    const where = { ...life, s, goTo, chips };
    const changes = life.changes(o).map((n) => h("p", "Changed in place, ", goTo(n)));
    const rows = [...origin(where, id), ...takenOver(where, id), ...changes, ...end(where, id)];
    return [h("h3", life.title), ...rows];
  });
  return h("section.pl-life", parts);
}

/** @param {Told} told @param {string} id */
function origin({ provenance, steps, s, goTo, chips }, id) {
  const made = provenance.born.get(id);
  if (!made) return [];
  const step = steps[made - 1];
  const from = step.from?.[id] ?? [];
  const words = from.length ? `Made from ${counted(from.length, "node")} ` : "Made ";
  const rows = [h("p", words, chips(from), `by ${s.titleOf(step)}, `, goTo(made))];
  const sources = provenance.origins(id, made);
  if (from.length && sources.some((x) => !from.includes(x)))
    rows.push(h("p", `In the source ${counted(sources.length, "node")} `, chips(sources)));
  return rows;
}

/** What merged into it, or was removed before it, since it is there. @param {Told} told @param {string} id */
function takenOver({ provenance, goTo, chips }, id) {
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

/** @param {Told} told @param {string} id */
function end({ provenance, s, goTo, chips }, id) {
  const gone = provenance.left.get(id);
  const fate = provenance.fate(id);
  if (!gone) {
    const kept = provenance.born.has(id) ? "Stays to the end." : "Kept to the end.";
    const also = fate.into.length ? " Also part of " : "";
    return [h("p", kept, also, chips(fate.into))];
  }
  const others = s.occupants(gone.nodes.filter((x) => x !== id)).length;
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

/** @param {[number, string][]} links @returns {[number, string[]][]} */
const byStep = (links) =>
  [...Map.groupBy(links, ([when]) => Math.abs(when))].map(([n, list]) => [
    n,
    list.map(([, id]) => id),
  ]);

/**
 * The nodes as buttons, the first two dozen at once.
 * @param {Context} context @param {Session} s @param {string[]} ids
 * @returns {(HTMLElement | string)[]}
 */
function nodeChips(context, s, ids) {
  const chips = s.occupants(ids).map((o) => [nodeChip(context, s.union.recs[o].id), " "]);
  const shown = chips.slice(0, SHOWN).flat();
  const rest = chips.slice(SHOWN);
  if (!rest.length) return shown;
  const all = () => more.replaceWith(...rest.flat());
  const more = button("Show them all", `and ${rest.length} more`, all, "pl-link");
  return [...shown, more, " "];
}

/** @param {Context} context @param {Session} s @param {number} o */
export function askedSection(context, s, o) {
  if (!s.trace || s.union.kind[o]) return null;
  const rec = s.union.recs[o];
  const { id } = rec;
  const title = (/** @type {number} */ pass) => h("b", s.trace?.passes[pass]?.title);
  const declined = s.trace.declined.filter((d) => d.node === id || d.nodes?.includes(id));
  const vetoed = (s.trace.vetoed ?? []).filter((v) => v.matched.includes(id));
  const rows = [
    ...declined.map((d) => {
      const why = d.detail ? `${d.reason}: ${d.detail}` : d.reason;
      const at = d.node !== id && s.knows(d.node) ? [" At ", nodeChip(context, d.node)] : [];
      const unlock = d.unlock && h("span.pl-unlock", d.unlock);
      return h("p", title(d.pass), h("span", why), unlock, at);
    }),
    ...vetoed.map((v) => h("p", title(v.pass), h("span", "Vetoed ", restoreLink(context, v.veto)))),
  ];
  const stopped = new Set([...declined, ...vetoed].map(({ pass }) => pass));
  const fired = firedAt(s, id);
  const silent = silentOf(s, o, new Set([...stopped, ...fired]));
  const names = silent.map((p) => p.title);
  const looked = new Set([...stopped, ...fired]).size + silent.length;
  return h(
    "section.pl-looked",
    h("h3", looked ? `${counted(looked, "pass", "passes")} looked at this node` : "No pass looked"),
    looked > 0 && h("p.pl-dim", counts(fired.size, stopped.size)),
    rows,
    names.length > 0 &&
      h(
        "details",
        h("summary", `${counted(names.length, "pass", "passes")} found no match`),
        h("p.pl-dim", names.join(", ")),
      ),
    others(s.trace, rec),
  );
}

/** @param {number} fired @param {number} stopped */
const counts = (fired, stopped) =>
  [fired ? `${fired} fired` : "", stopped ? `${stopped} came near and stopped` : ""]
    .filter(Boolean)
    .join(", ");

/** Passes whose steps matched a node, or changed it. @param {Session} s @param {string} id */
function firedAt(s, id) {
  const steps = s.histories.flatMap((life) => life.steps);
  const at = steps.filter(
    ({ matched, removed, changed }) =>
      matched.includes(id) || removed.includes(id) || (changed && id in changed),
  );
  return new Set(at.map(({ pass }) => pass));
}

/**
 * Passes that looked and had nothing to say; where two pipelines are shown, of a node that is there at
 * the end alone.
 * @param {Session} s @param {number} o @param {Set<number>} named
 */
function silentOf(s, o, named) {
  const [{ provenance }, ...more] = s.histories;
  if (!s.trace || (more.length && Number.isFinite(s.union.died[o]))) return [];
  return silentPasses(s.trace, provenance, s.union.recs[o], named);
}

/** Passes that might have had something to say, and are off. @param {StepsJson} trace @param {NodeRecord} rec */
function others(trace, rec) {
  const known = passesFor(trace, rec);
  if (!known.length) return h("p.pl-dim", `No rule of any pass is for operator ${rec.op}.`);
  const off = known.filter((p) => !p.enabled).map((p) => p.title);
  if (!off.length) return null;
  return h(
    "details",
    h(
      "summary",
      `${counted(off.length, "pass", "passes")} for ${rec.op} ${off.length > 1 ? "are" : "is"} off`,
    ),
    h("p.pl-dim", off.join(", ")),
  );
}
