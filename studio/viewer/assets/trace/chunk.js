// @ts-check
// Groups for what has none: long runs of numbered siblings, and flat stretches of a graph,
// cut where the fewest tensors cross.

import { NODE } from "./union.js";
import { Group } from "./group.js";

const MAX_SIBLINGS = 40;
const MAX_FLAT = 60;
const LARGEST_PART = 40;

/** layer.0 … layer.154 -> "layer.0-12", "layer.13-25", … @param {Group} g */
export function chunkSiblings(g) {
  for (const kid of [...g.kids]) chunkSiblings(kid);
  if (g.kids.length <= MAX_SIBLINGS) return;
  const runs = Map.groupBy(g.kids, (kid) => kid.name.replace(/\d+/g, "#"));
  for (const run of runs.values()) {
    if (run.length <= MAX_SIBLINGS) continue;
    const size = Math.ceil(Math.sqrt(run.length));
    const made = [];
    for (let i = 0; i < run.length; i += size) made.push(stack(g, run.slice(i, i + size)));
    const gone = new Set(run);
    const first = g.kids.indexOf(run[0]);
    const rest = g.kids.filter((k) => !gone.has(k));
    rest.splice(Math.min(first, rest.length), 0, ...made);
    g.kids = rest;
  }
}

/** @param {Group} parent @param {Group[]} part */
function stack(parent, part) {
  const last = part[part.length - 1];
  const digits = last.name.match(/\d+(?!.*\d)/);
  const made = new Group(
    `${part[0].id}…${last.id}`,
    `${part[0].name}–${digits ? digits[0] : last.name}`,
  );
  made.parent = parent;
  made.kids = part;
  for (const k of part) k.parent = made;
  return made;
}

/** @param {Group} g @param {Union} union */
export function chunkLeaves(g, union) {
  for (const kid of [...g.kids]) chunkLeaves(kid, union);
  const members = g.slots.filter((s) => union.kind[union.occupants[s][0]] === NODE);
  if (members.length <= MAX_FLAT) return;
  const crossing = crossings(members, union);
  const size = Math.max(12, Math.min(LARGEST_PART, Math.round(Math.sqrt(members.length))));
  const others = g.slots.filter((s) => union.kind[union.occupants[s][0]] !== NODE);
  const parts = [];
  for (let start = 0; start < members.length; ) {
    const end =
      members.length - start <= size * 1.6 ? members.length : bestCut(crossing, start, size);
    parts.push(members.slice(start, end));
    start = end;
  }
  g.slots = others;
  for (const part of parts) {
    const name = (/** @type {number} */ s) => union.recs[union.occupants[s][0]].op;
    const made = new Group(
      `${g.id}#${union.recs[union.occupants[part[0]][0]].id}`,
      `${name(part[0])} … ${name(part[part.length - 1])}`,
    );
    made.parent = g;
    made.slots = part;
    g.kids.push(made);
  }
}

/**
 * Tensors that cross each gap of the list; far-reaching ones (masks) do not count.
 * @param {number[]} members
 * @param {Union} union
 */
function crossings(members, union) {
  const place = new Map(members.map((s, i) => [s, i]));
  const diff = new Int32Array(members.length + 1);
  const reach = new Int32Array(members.length);
  for (let e = 0; e < union.from.length; e++) {
    const a = place.get(union.slotOf[union.from[e]]);
    const b = place.get(union.slotOf[union.to[e]]);
    if (a === undefined || b === undefined || b <= a) continue;
    reach[a] = Math.max(reach[a], b);
  }
  for (let a = 0; a < members.length; a++) {
    if (reach[a] <= a || reach[a] - a > members.length / 4) continue;
    diff[a]++;
    diff[reach[a]]--;
  }
  const crossing = new Int32Array(members.length);
  for (let i = 0, sum = 0; i < members.length; i++) {
    sum += diff[i];
    crossing[i] = sum;
  }
  return crossing;
}

/** @param {Int32Array} crossing @param {number} start @param {number} size */
function bestCut(crossing, start, size) {
  let best = start + size;
  let cost = Infinity;
  for (
    let end = start + Math.ceil(size * 0.6);
    end <= Math.min(crossing.length, start + size * 1.5);
    end++
  ) {
    const c = crossing[end - 1] * 4 + Math.abs(end - start - size) / size;
    if (c < cost) {
      cost = c;
      best = end;
    }
  }
  return best;
}
