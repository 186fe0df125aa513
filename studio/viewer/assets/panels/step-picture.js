// @ts-check
// The little picture on the step card: the matched nodes at the left, what replaced them at the
// right.

import { drawBox } from "../canvas/draw-box.js";
import { rankItems, placeItems } from "../layout/layered.js";
import { Cursor } from "../trace/history.js";

/** @typedef {import("../session/session.js").Session} Session */

const GAP = 16;
const MOST = 10;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Session} s
 * @param {import("../page/theme.js").Theme} theme
 */
export function drawMini(canvas, s, theme) {
  const step = s.current;
  if (!step) return;
  const find = (/** @type {string[]} */ ids) =>
    ids
      .map((id) => s.union.index.get(id))
      .filter((o) => o !== undefined)
      .slice(0, MOST);
  const gone = new Set(step.removed);
  const stays = step.matched.filter((id) => !gone.has(id));
  const changed = new Set(Object.keys(step.changed ?? {}));
  const old = arrange(s, find(step.matched), s.place - 1);
  const fresh = arrange(s, find([...new Set([...stays, ...step.added, ...changed])]), s.place);
  const width = canvas.clientWidth || 280;
  const half = (width - 40) / 2;
  // Side by side where it stays readable, else one above the other.
  const stacked = Math.max(old.width, fresh.width) > half * 1.5;
  const room = stacked ? width - 16 : half;
  const k = Math.min(1, room / Math.max(old.width, fresh.width, 1));
  const need = stacked
    ? (old.height + Math.max(fresh.height, 20)) * k + 56
    : Math.max(old.height, fresh.height) * k + 24;
  const tall = Math.max(48, Math.min(250, need));
  const fit = stacked
    ? Math.min(k, (tall - 56) / (old.height + Math.max(fresh.height, 20)))
    : Math.min(k, (tall - 24) / Math.max(old.height, fresh.height, 1));
  const dpr = window.devicePixelRatio || 1;
  canvas.style.height = `${tall}px`;
  canvas.width = width * dpr;
  canvas.height = tall * dpr;
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const cut = 12 + old.height * fit + 16;
  const middles = stacked
    ? [
        [width / 2, 12 + (old.height * fit) / 2],
        [width / 2, cut + 12 + (Math.max(fresh.height, 20) * fit) / 2],
      ]
    : [
        [8 + half / 2, tall / 2],
        [width - 8 - half / 2, tall / 2],
      ];
  [old, fresh].forEach((side, i) => {
    const [x, y] = middles[i];
    c.setTransform(
      dpr * fit,
      0,
      0,
      dpr * fit,
      dpr * (x - (side.width / 2) * fit),
      dpr * (y - (side.height / 2) * fit),
    );
    paint(c, s, theme, side, (rec) =>
      i
        ? step.added.includes(rec.id)
          ? "added"
          : changed.has(rec.id)
            ? "changed"
            : "matched"
        : gone.has(rec.id)
          ? "removed"
          : "matched",
    );
    if (side.boxes.length) return;
    c.setTransform(dpr, 0, 0, dpr, dpr * x, dpr * y);
    caption(c, theme, s, i ? (step.edges_added?.length ? "passes through" : "a constant") : "");
  });
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.translate(width / 2, stacked ? cut : tall / 2);
  if (stacked) c.rotate(Math.PI / 2);
  c.strokeStyle = theme.muted;
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(-8, 0);
  c.lineTo(8, 0);
  c.moveTo(3, -4);
  c.lineTo(8, 0);
  c.lineTo(3, 4);
  c.stroke();
}

/** @param {Session} s @param {number[]} occupants @param {number} step */
function arrange(s, occupants, step) {
  const at = new Map(occupants.map((o, i) => [o, i]));
  const cursor = new Cursor(s.union);
  cursor.goto(step);
  /** @type {[number, number][]} */
  const inner = [];
  for (let e = 0; e < s.union.from.length; e++) {
    if (!cursor.edgeAlive[e]) continue;
    const a = at.get(s.union.from[e]),
      b = at.get(s.union.to[e]);
    if (a !== undefined && b !== undefined && a !== b) inner.push([a, b]);
  }
  const recs = occupants.map((o) => ({ ...s.history.record(o, step), rows: [] }));
  const w = Float64Array.from(recs, (r) => s.metrics.nodeWidth(r));
  const { rank, ranks } = rankItems(recs.length, inner, new Int8Array(recs.length));
  const wires = inner.map(([a, b]) => ({ a, b, oa: 0, ob: 0 }));
  const { x, width } = placeItems(w, rank, ranks, wires);
  const boxes = recs.map((rec, i) => ({
    key: i,
    kind: /** @type {"node"} */ ("node"),
    occ: i,
    rec,
    group: null,
    x: x[i] - w[i] / 2,
    y: (rank[i] - 1) * (26 + GAP),
    w: w[i],
    h: 26,
  }));
  const height = boxes.reduce((m, b) => Math.max(m, b.y + b.h), 0);
  return { boxes, inner, width, height };
}

/**
 * @param {CanvasRenderingContext2D} c @param {Session} s @param {import("../page/theme.js").Theme} theme
 * @param {ReturnType<typeof arrange>} side
 * @param {(rec: import("../types.js").NodeRecord) => import("../canvas/draw.js").Mark} mark
 */
function paint(c, s, theme, side, mark) {
  c.strokeStyle = theme.wire;
  c.lineWidth = 1.25;
  c.beginPath();
  for (const [a, b] of side.inner) {
    const p = side.boxes[a],
      q = side.boxes[b];
    const x0 = p.x + p.w / 2,
      x1 = q.x + q.w / 2,
      y0 = p.y + p.h,
      y1 = q.y,
      m = (y0 + y1) / 2;
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0, m, x1, m, x1, y1);
  }
  c.stroke();
  const scene = /** @type {any} */ ({
    c,
    theme,
    metrics: s.metrics,
    view: { k: 1, x: 0, y: 0 },
    marks: new Map(),
    selected: new Set(),
    hover: -1,
  });
  for (const b of side.boxes)
    drawBox(
      scene,
      b,
      { ...b, alpha: 1 },
      { mark: mark(b.rec), now: false, faded: false, plus: 0, minus: 0 },
    );
}

/**
 * @param {CanvasRenderingContext2D} c
 * @param {import("../page/theme.js").Theme} theme
 * @param {Session} s
 * @param {string} text
 */
function caption(c, theme, s, text) {
  c.font = s.metrics.fonts.brief;
  c.fillStyle = theme.muted;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(text, 0, 0);
}
