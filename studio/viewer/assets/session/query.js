// @ts-check
// What a search finds: groups, nodes and steps, the best first; and why it finds nothing.

import { NODE } from "../trace/union.js";
import { counted } from "../page/numbers.js";

/**
 * @typedef {object} Hit
 * @property {"group" | "node" | "step"} kind
 * @property {string} id of the node or group
 * @property {string} head what it is @property {string} place where it is
 * @property {string} note why it may not be seen, or how large it is
 * @property {number} step to go to first, -1 = none
 * @property {number} score the lower the better
 */

/** @typedef {{text: string, own: string, place: string}} Texts what is looked at, folded alike */

const KINDS = /** @type {const} */ (["group", "node", "step"]);

/** `encoder.layer.3` and `/encoder/layer/3` are one. @param {string} text */
const alike = (text) => text.toLowerCase().replace(/[./\\:]+/g, "/");

/** @param {string} query */
export const wordsOf = (query) =>
  alike(query)
    .split(/\s+/)
    .filter((word) => word && word !== "/");

/**
 * @param {Session} s @param {string[]} words
 * @returns {Hit[]} kind by kind, the kind with the best hit first
 */
export function findAll(s, words) {
  if (!words.length) return [];
  const by = KINDS.map((kind) =>
    candidates(s, kind)
      .filter(([texts]) => words.every((word) => texts.text.includes(word)))
      .map(([texts, make]) => {
        const score = words.reduce((sum, word) => sum + scoreOf(texts, word), 0);
        const hit = make();
        return { ...hit, score: score + hit.score };
      })
      .sort((a, b) => Number(isElsewhere(a)) - Number(isElsewhere(b)) || a.score - b.score),
  );
  const best = (/** @type {Hit[]} */ hits) => Math.min(...hits.map((hit) => hit.score));
  return by.sort((a, b) => best(a) - best(b)).flat();
}

/** Whether only other steps have it. @param {Hit} hit */
const isElsewhere = (hit) => hit.kind === "node" && hit.step >= 0;

/** @param {Texts} texts @param {string} word */
function scoreOf({ text, own, place }, word) {
  if (own === word) return 0;
  if (isWhole(own, word)) return own.endsWith(word) ? 0.5 : 1;
  if (own.includes(word)) return 3;
  return isWhole(place || text, word) ? 2 : 4;
}

/** Does a word stand there between signs that are no letters? @param {string} text @param {string} word */
function isWhole(text, word) {
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1))
    if (!/[\p{L}\d]/u.test(text[i - 1] ?? "") && !/[\p{L}\d]/u.test(text[i + word.length] ?? ""))
      return true;
  return false;
}

/** @typedef {[Texts, () => Hit][]} Candidates what is looked at, and the hit it would be */

/** What is looked at, folded once a step. @param {Session} s @param {Hit["kind"]} kind */
const candidates = (s, kind) => s.searched.get(kind, [s.step], () => listed(s, kind));

/** @param {Session} s @param {Hit["kind"]} kind @returns {Candidates} */
function listed(s, kind) {
  if (kind === "group") return s.tree.groups.filter((g) => g.parent).map((g) => ofGroup(s, g));
  if (kind === "node") return ordered(s).map((o) => ofNode(s, o));
  return s.steps.map((step) => ofStep(s, step));
}

/** @param {Session} s */
function ordered({ union }) {
  const place = (/** @type {number} */ o) => union.order[union.slotOf[o]];
  return union.recs.map((_, o) => o).sort((a, b) => place(a) - place(b));
}

/** @param {Session} s @param {Group} g @returns {[Texts, () => Hit]} */
function ofGroup(s, g) {
  const own = alike(g.id);
  return [
    { text: `${own} ${alike(g.name)}`, own, place: "" },
    () => ({
      kind: "group",
      id: g.id,
      head: g.name,
      place: g.id,
      note: counted(s.tally.after[g.at], "node"),
      step: -1,
      score: 0,
    }),
  ];
}

/** @param {Session} s @param {number} o @returns {[Texts, () => Hit]} */
function ofNode(s, o) {
  const rec = s.history.record(o, s.step);
  const place = alike(rec.name);
  return [
    {
      text: alike(`${rec.op} ${rec.name} ${rec.id} ${rec.brief ?? ""}`),
      own: alike(rec.op),
      place,
    },
    () => {
      const [note, step] = absence(s, o);
      const score = note ? 0.25 : 0;
      return { kind: "node", id: rec.id, head: rec.op, place: rec.name, note, step, score };
    },
  ];
}

/**
 * Why a node is not in the right pane, and the step to go to where it is in no pane.
 * @param {Session} s @param {number} o @returns {[string, number]}
 */
function absence(s, o) {
  if (s.afterCursor.alive[o]) return ["", -1];
  if (s.beforeCursor.alive[o]) return ["gone", -1];
  const born = s.union.born[o];
  if (born > s.step) return [`from step ${born}`, born];
  const last = s.union.died[o] - 1;
  return [`until step ${last}`, last];
}

/** @param {Session} s @param {StepRecord} step @returns {[Texts, () => Hit]} */
function ofStep(s, step) {
  const pass = s.trace?.passes[step.pass];
  const root = s.union.index.get(step.root);
  const name = root === undefined ? step.root : s.union.recs[root].name;
  const title = pass?.title ?? step.rule;
  const text = alike(
    `step ${step.n} ${title} ${step.rule} ${pass?.id ?? ""} ${step.match} ${name}`,
  );
  return [
    { text, own: String(step.n), place: "" },
    () => ({
      kind: "step",
      id: step.root,
      head: `Step ${step.n}`,
      place: `${title} · ${name}`,
      note: "",
      step: step.n,
      score: 1,
    }),
  ];
}

/** Why nothing has all the words. @param {Session} s @param {string[]} words @returns {string[]} */
export function explain(s, words) {
  const all = KINDS.flatMap((kind) => candidates(s, kind)).map(([{ text }]) => text);
  const parts = [...new Set(words.flatMap((word) => word.split("/")))].filter(Boolean);
  const counts = parts.map((part) => all.filter((text) => text.includes(part)).length);
  const unknown = parts.filter((_, i) => !counts[i]);
  const nodes = s.union.kind.filter((kind) => kind === NODE).length;
  const places = `${counted(nodes, "node")}, ${counted(s.tree.groups.length - 1, "group")}`;
  const looked = s.trace ? `${places} and ${counted(s.steps.length, "step")}` : places;
  const each = parts.map((part, i) => `“${part}” in ${counts[i].toLocaleString("en")}`);
  return [
    unknown.length
      ? `Nothing here holds ${unknown.map((part) => `“${part}”`).join(" or ")}.`
      : `Nothing holds all of it together: ${each.join(", ")}.`,
    `Looked at operators, names and passes of ${looked}.`,
    s.trace ? "" : "Steps can be found on the Rewrite page.",
  ].filter(Boolean);
}
