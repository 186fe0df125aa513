// @ts-check
// The little picture on the step card: the matched nodes at the left, what replaced them at the
// right; of a step that touches no node, which weights go, and which one stays.

import { drawBox } from "../canvas/draw-box.js";
import { drawText, path, penOf } from "../canvas/pen.js";
import { placeItems } from "../layout/columns.js";
import { rankItems } from "../layout/ranks.js";
import { NODE_H } from "../layout/metrics.js";
import { h } from "../page/dom.js";
import { amount, counted, signed } from "../page/numbers.js";
import { Cursor } from "../trace/history.js";

/** @typedef {ReturnType<typeof arrange>} Side */

const GAP = 16;
const MOST = 10;
const WEIGHTS = 3; // drawn one by one
const LEAST_H = 20; // of what replaced them, where that is nothing
const TALLEST = 250;

/** @param {HTMLCanvasElement} canvas @param {Session} s @param {Theme} theme */
export function drawMini(canvas, s, theme) {
  const step = s.current;
  if (!step) return;
  const gone = new Set(step.removed);
  const stays = step.matched.filter((id) => !gone.has(id));
  const changed = Object.keys(step.changed ?? {});
  const before = arrange(s, step.matched, s.place - 1);
  const after = arrange(s, [...stays, ...step.added, ...changed], s.place);
  const { width, tall, zoom, middles, arrow } = fitted(canvas.clientWidth || 280, before, after);
  canvas.style.height = `${tall}px`;
  /** @param {string} id @returns {Mark} */
  const was = (id) => (gone.has(id) ? "removed" : "matched");
  /** @param {string} id @returns {Mark} */
  const is = (id) =>
    step.added.includes(id) ? "added" : changed.includes(id) ? "changed" : "matched";
  const nothing = step.edges_added?.length ? "passes through" : "a constant";
  for (const [i, side] of [before, after].entries()) {
    const c = penOf(canvas, width, tall);
    c.translate(...middles[i]);
    const style = { font: s.metrics.fonts.brief, colour: theme.muted };
    if (!side.boxes.length && i) drawText(c, nothing, 0, 0, { ...style, align: "center" });
    c.scale(zoom, zoom);
    c.translate(-side.width / 2, -side.height / 2);
    paint(c, s, theme, side, i ? is : was);
  }
  drawArrow(penOf(canvas, width, tall), arrow, theme.muted);
}

/**
 * Side by side where it stays readable, else one above the other.
 * @param {number} width @param {Side} before @param {Side} after
 */
function fitted(width, before, after) {
  const half = (width - 40) / 2;
  const wide = Math.max(before.width, after.width, 1);
  const stacked = wide > half * 1.5;
  const below = Math.max(after.height, LEAST_H);
  const high = stacked ? before.height + below : Math.max(before.height, after.height, 1);
  const margin = stacked ? 56 : 24;
  const most = Math.min(1, (stacked ? width - 16 : half) / wide);
  const tall = Math.max(48, Math.min(TALLEST, high * most + margin));
  const zoom = Math.min(most, (tall - margin) / high);
  const cut = 28 + before.height * zoom;
  /** @type {[number, number][]} */
  const middles = stacked
    ? [
        [width / 2, 12 + (before.height * zoom) / 2],
        [width / 2, cut + 12 + (below * zoom) / 2],
      ]
    : [
        [8 + half / 2, tall / 2],
        [width - 8 - half / 2, tall / 2],
      ];
  return {
    width,
    tall,
    zoom,
    middles,
    arrow: { x: width / 2, y: stacked ? cut : tall / 2, stacked },
  };
}

/** From before to after. @param {CanvasRenderingContext2D} c @param {{x: number, y: number, stacked: boolean}} at @param {string} colour */
function drawArrow(c, { x, y, stacked }, colour) {
  c.translate(x, y);
  if (stacked) c.rotate(Math.PI / 2);
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  path(c, 3, -4, 8, 0, 3, 4);
  c.moveTo(-8, 0);
  c.lineTo(8, 0);
  c.stroke();
}

/** The first nodes of those that are known, with the edges between them. @param {Session} s @param {string[]} ids @param {number} step */
function arrange(s, ids, step) {
  const { from, to } = s.union;
  const occupants = s.occupants([...new Set(ids)]).slice(0, MOST);
  const at = new Map(occupants.map((o, i) => [o, i]));
  const cursor = new Cursor(s.union);
  cursor.goto(step);
  /** @type {[number, number][]} */
  const inner = [];
  for (let e = 0; e < from.length; e++) {
    const [a, b] = [at.get(from[e]), at.get(to[e])];
    if (cursor.edgeAlive[e] && a !== undefined && b !== undefined && a !== b) inner.push([a, b]);
  }
  const recs = occupants.map((o) => ({ ...s.history.record(o, step), rows: [] }));
  const widths = Float64Array.from(recs, (r) => s.metrics.nodeWidth(r));
  const { rank, ranks } = rankItems(recs.length, inner, new Int8Array(recs.length));
  const wires = inner.map(([a, b]) => ({ a, b, oa: 0, ob: 0 }));
  const { x, width } = placeItems(widths, rank, ranks, wires);
  const boxes = recs.map((rec, i) => ({
    key: i,
    kind: /** @type {"node"} */ ("node"),
    occ: i,
    rec,
    group: null,
    x: x[i] - widths[i] / 2,
    y: (rank[i] - 1) * (NODE_H + GAP),
    w: widths[i],
    h: NODE_H,
  }));
  const height = boxes.reduce((m, b) => Math.max(m, b.y + b.h), 0);
  return { boxes, inner, width, height };
}

/**
 * @param {CanvasRenderingContext2D} c @param {Session} s @param {Theme} theme
 * @param {Side} side @param {(id: string) => Mark} mark
 */
function paint(c, { metrics }, theme, { boxes, inner }, mark) {
  c.strokeStyle = theme.wire;
  c.lineWidth = 1.25;
  c.beginPath();
  for (const [a, b] of inner) {
    const [p, q] = [boxes[a], boxes[b]];
    const [x0, x1] = [p.x + p.w / 2, q.x + q.w / 2];
    const [y0, y1] = [p.y + p.h, q.y];
    const m = (y0 + y1) / 2;
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0, m, x1, m, x1, y1);
  }
  c.stroke();
  const view = { k: 1, x: 0, y: 0 };
  const none = { marks: new Map(), selected: new Set(), hover: -1, value: () => null };
  const scene = /** @type {any} */ ({ c, theme, metrics, view, ...none });
  for (const b of boxes)
    drawBox(scene, b, { ...b, alpha: 1 }, { mark: mark(b.rec.id), now: false });
}

/** @param {import("../types.js").WeightsRecord} weights */
export function weightsPicture({ count, bytes, dropped, kept }) {
  const gone = dropped.slice(0, WEIGHTS).map((weight) => weightChip(weight, "pl-removed"));
  const more = count - gone.length;
  const copies = count + 1;
  return h(
    "figure.pl-weights",
    h(
      "div",
      kept && weightChip(kept, "pl-matched"),
      gone,
      more > 0 && h("span.pl-dim", `and ${counted(more, "more", "more")}`),
    ),
    h("span.pl-arrow", { "aria-hidden": "true" }, "→"),
    h("div", kept ? weightChip(kept, "pl-matched") : h("span.pl-dim", "not read")),
    h(
      "figcaption",
      kept
        ? `${counted(copies, "copy", "copies")} → 1, ${signed(-bytes, "B")}`
        : `${counted(count, "unused weight")} → 0, ${signed(-bytes, "B")}`,
    ),
  );
}

/** @param {[string, string, string, number]} weight @param {string} cls */
function weightChip([name, dtype, shape, bytes], cls) {
  return h(
    `div.pl-weight.${cls}`,
    { title: name },
    h("b", `${dtype} ${shape}`.trim()),
    h("span.pl-dim", amount(bytes, "B")),
    h("span.pl-path", name.split("/").at(-1) ?? ""),
  );
}
