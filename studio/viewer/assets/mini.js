// @ts-check
// The little picture on the step card: the matched nodes at the left, what replaced them at the right.

import { drawBox } from "./drawbox.js";
import { rankItems, placeItems } from "./layered.js";

/** @typedef {import("./session.js").Session} Session */

const GAP = 16;
const MOST = 10;

/** @param {HTMLCanvasElement} canvas @param {Session} s @param {import("./theme.js").Theme} theme */
export function drawMini(canvas, s, theme) {
  const step = s.current;
  if (!step) return;
  const find = (/** @type {string[]} */ ids) => ids.map((id) => s.union.index.get(id)).filter((o) => o !== undefined).slice(0, MOST);
  const old = arrange(s, find(step.matched), s.step - 1, step.edges_removed ?? []);
  const fresh = arrange(s, find([...new Set([...step.added, ...Object.keys(step.changed ?? {})])]), s.step, step.edges_added ?? []);
  const width = canvas.clientWidth || 280;
  const half = (width - 34) / 2;
  const k = Math.min(1, half / Math.max(old.width, fresh.width, 1));
  const tall = Math.max(44, Math.min(230, Math.max(old.height, fresh.height) * k + 16));
  const fit = Math.min(k, (tall - 16) / Math.max(old.height, fresh.height, 1));
  const dpr = window.devicePixelRatio || 1;
  canvas.style.height = `${tall}px`;
  canvas.width = width * dpr;
  canvas.height = tall * dpr;
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const gone = new Set(step.removed);
  [old, fresh].forEach((side, i) => {
    const x = i ? width - half / 2 : half / 2;
    c.setTransform(dpr * fit, 0, 0, dpr * fit, dpr * (x - (side.width / 2) * fit), dpr * (tall / 2 - (side.height / 2) * fit));
    paint(c, s, theme, side, (rec) => (i ? (step.added.includes(rec.id) ? "added" : "changed") : gone.has(rec.id) ? "removed" : "matched"));
    if (!side.boxes.length) caption(c, theme, s, i ? "passes through" : "");
  });
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.strokeStyle = theme.muted;
  c.lineWidth = 1.5;
  c.beginPath();
  const y = tall / 2, m = width / 2;
  c.moveTo(m - 9, y); c.lineTo(m + 8, y); c.moveTo(m + 3, y - 4); c.lineTo(m + 8, y); c.lineTo(m + 3, y + 4);
  c.stroke();
}

/** @param {Session} s @param {number[]} occupants @param {number} step @param {import("./types.js").EdgeRecord[]} edges */
function arrange(s, occupants, step, edges) {
  const at = new Map(occupants.map((o, i) => [s.union.recs[o].id, i]));
  /** @type {[number, number][]} */
  const inner = [];
  for (const [f, t] of edges) {
    const a = at.get(f), b = at.get(t);
    if (a !== undefined && b !== undefined && a !== b) inner.push([a, b]);
  }
  const recs = occupants.map((o) => ({ ...s.history.record(o, step), rows: [] }));
  const w = Float64Array.from(recs, (r) => s.metrics.nodeWidth(r));
  const { rank, ranks } = rankItems(recs.length, inner, new Int8Array(recs.length));
  const wires = inner.map(([a, b]) => ({ a, b, oa: 0, ob: 0 }));
  const { x, width } = placeItems(w, rank, ranks, wires);
  const boxes = recs.map((rec, i) => ({ key: i, kind: /** @type {"node"} */ ("node"), occ: i, rec, group: null, x: x[i] - w[i] / 2, y: (rank[i] - 1) * (26 + GAP), w: w[i], h: 26 }));
  const height = boxes.reduce((m, b) => Math.max(m, b.y + b.h), 0);
  return { boxes, inner, width, height };
}

/**
 * @param {CanvasRenderingContext2D} c @param {Session} s @param {import("./theme.js").Theme} theme
 * @param {ReturnType<typeof arrange>} side @param {(rec: import("./types.js").NodeRecord) => import("./draw.js").Mark} mark
 */
function paint(c, s, theme, side, mark) {
  c.strokeStyle = theme.wire;
  c.lineWidth = 1.25;
  c.beginPath();
  for (const [a, b] of side.inner) {
    const p = side.boxes[a], q = side.boxes[b];
    const x0 = p.x + p.w / 2, x1 = q.x + q.w / 2, y0 = p.y + p.h, y1 = q.y, m = (y0 + y1) / 2;
    c.moveTo(x0, y0);
    c.bezierCurveTo(x0, m, x1, m, x1, y1);
  }
  c.stroke();
  const scene = /** @type {any} */ ({ c, theme, metrics: s.metrics, view: { k: 1, x: 0, y: 0 }, marks: new Map(), selected: new Set(), hover: -1 });
  for (const b of side.boxes) drawBox(scene, b, { ...b, alpha: 1 }, { mark: mark(b.rec), now: false, faded: false, plus: 0, minus: 0 });
}

/** @param {CanvasRenderingContext2D} c @param {import("./theme.js").Theme} theme @param {Session} s @param {string} text */
function caption(c, theme, s, text) {
  c.font = s.metrics.fonts.brief;
  c.fillStyle = theme.muted;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(text, 0, 0);
}
