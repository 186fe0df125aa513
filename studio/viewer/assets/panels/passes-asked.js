// @ts-check
// Which passes looked at a node and left it: near misses, vetoes, and those that found nothing.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

/** @typedef {import("../session/session.js").Session} Session */

/**
 * @param {import("../app/actions.js").Context} context
 * @param {Session} s
 * @param {number} o
 * @param {(o: number) => HTMLElement} chip
 */
export function askedSection(context, s, o, chip) {
  if (!s.trace || s.union.kind[o]) return null;
  const { id } = s.union.recs[o];
  const title = (/** @type {number} */ pass) => h("b", s.trace?.passes[pass]?.title ?? "");
  const rows = [];
  const named = new Set();
  for (const d of s.trace.declined) {
    if (d.node !== id && !d.nodes?.includes(id)) continue;
    named.add(d.pass);
    const root = d.node === id ? undefined : s.union.index.get(d.node);
    const why = d.detail ? `${d.reason}: ${d.detail}` : d.reason;
    const at = root === undefined ? [] : [" At ", chip(root)];
    rows.push(h("p", title(d.pass), h("span", why), at));
  }
  for (const v of s.trace.vetoed ?? []) {
    if (!v.matched.includes(id)) continue;
    named.add(v.pass);
    const allow = () => context.actions.allow(v.veto);
    const restore = button("Let this rewrite happen again", "restore", allow, "pl-link");
    rows.push(h("p", title(v.pass), h("span", "Vetoed ", restore)));
  }
  const idle = idlePasses(s, o, named);
  if (!rows.length && !idle.length) return null;
  return h(
    "section.pl-looked",
    h("h3", "Passes that looked and stopped"),
    rows,
    idle.length &&
      h(
        "details",
        h("summary", `${counted(idle.length, "pass", "passes")} found no match`),
        h("p.pl-dim", idle.join(", ")),
      ),
  );
}

/**
 * Passes that are asked about such operators and had nothing to say. Of a node that is there at the
 * end all of them have been asked; of another one nobody knows.
 * @param {Session} s @param {number} o @param {Set<number>} named
 */
function idlePasses(s, o, named) {
  if (s.history.died[o] || !s.trace) return [];
  const rec = s.union.recs[o];
  const operator = rec.domain ? `${rec.domain}::${rec.op}` : rec.op;
  return s.trace.passes
    .filter((p, i) => p.enabled && !named.has(i) && isAsked(p.roots ?? [], operator))
    .map((p) => p.title);
}

/** @param {string[]} roots @param {string} operator */
const isAsked = (roots, operator) => roots.includes("*") || roots.includes(operator);
