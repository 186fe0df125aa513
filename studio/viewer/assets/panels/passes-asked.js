// @ts-check
// Which passes looked at a node and left it: near misses, vetoes, and those that found nothing.

import { h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { nodeChip, restoreLink } from "./parts.js";

/** @param {Context} context @param {Session} s @param {number} o */
export function askedSection(context, s, o) {
  if (!s.trace || s.union.kind[o]) return null;
  const { id } = s.union.recs[o];
  const title = (/** @type {number} */ pass) => h("b", s.trace?.passes[pass]?.title);
  const declined = s.trace.declined.filter((d) => d.node === id || d.nodes?.includes(id));
  const vetoed = (s.trace.vetoed ?? []).filter((v) => v.matched.includes(id));
  const rows = [
    ...declined.map((d) => {
      const why = d.detail ? `${d.reason}: ${d.detail}` : d.reason;
      const at = d.node !== id && s.knows(d.node) ? [" At ", nodeChip(context, d.node)] : [];
      return h("p", title(d.pass), h("span", why), at);
    }),
    ...vetoed.map((v) => h("p", title(v.pass), h("span", "Vetoed ", restoreLink(context, v.veto)))),
  ];
  const idle = idlePasses(s, o, new Set([...declined, ...vetoed].map(({ pass }) => pass)));
  if (!rows.length && !idle.length) return null;
  const found = `${counted(idle.length, "pass", "passes")} found no match`;
  return h(
    "section.pl-looked",
    h("h3", "Passes that looked and stopped"),
    rows,
    idle.length > 0 && h("details", h("summary", found), h("p.pl-dim", idle.join(", "))),
  );
}

/**
 * Passes that are asked about such operators and had nothing to say. Of a node that is there at the
 * end all of them have been asked; of another one nobody knows.
 * @param {Session} s @param {number} o @param {Set<number>} named
 */
function idlePasses(s, o, named) {
  if (Number.isFinite(s.union.died[o]) || !s.trace) return [];
  const rec = s.union.recs[o];
  const operator = rec.domain ? `${rec.domain}::${rec.op}` : rec.op;
  return s.trace.passes
    .filter((p, i) => p.enabled && !named.has(i) && isAsked(p.roots ?? [], operator))
    .map((p) => p.title);
}

/** @param {string[]} roots @param {string} operator */
const isAsked = (roots, operator) => roots.includes("*") || roots.includes(operator);
