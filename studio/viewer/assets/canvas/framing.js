// @ts-check
// Where the camera goes: the top, everything, one box, the change.

import { hull } from "../layout/placement.js";

const LEAST_ZOOM = 0.7; // of the first picture: its texts can be read
const MARGIN = 24; // pixels around what fits
const HEADROOM = 28; // pixels above the first row

/** The top of the graph, readable, both panes at their first row. @param {Stage} stage */
export function showTop(stage) {
  const s = stage.session;
  if (!s) return;
  const pictures = stage.shown.map((pane) => s.picture(pane.which));
  const pane = stage.panes[1];
  const w = pane.width || 600;
  const tall = pane.height || 500;
  const width = Math.max(...pictures.map((p) => p.width));
  const height = Math.max(...pictures.map((p) => p.height));
  const wide = (w - 2 * MARGIN) / Math.max(1, width);
  const whole = Math.min(wide, (tall - 2 * MARGIN) / Math.max(1, height));
  const k = Math.min(1, Math.max(LEAST_ZOOM, whole > LEAST_ZOOM ? whole : wide));
  const fits = width * k <= w - MARGIN;
  const x = fits ? width / 2 : fullestColumn(pictures, w / k - 2 * MARGIN, tall / k);
  const y = height * k < tall - 2 * MARGIN ? height / 2 : tall / 2 / k - HEADROOM;
  stage.camera.lead = 1;
  stage.camera.flyTo({ k, x, y }, 0);
  stage.camera.alignTops();
  stage.homeView = { k, x, y };
  stage.invalidate();
}

/**
 * Wider than the pane: the column of the first screen that shows most boxes, in all panes
 * together, and the graph's first input, where it stands there.
 * @param {Picture[]} pictures
 * @param {number} wide @param {number} tall
 * @returns {number} its middle
 */
function fullestColumn(pictures, wide, tall) {
  const boxes = pictures.flatMap((p) =>
    p.boxes.filter((b) => b.kind !== "open" && b.y + b.h < tall - HEADROOM),
  );
  const ports = boxes.filter((b) => b.rec?.cat === "io");
  const first = ports.length ? [ports.reduce((a, b) => (b.occ < a.occ ? b : a))] : boxes;
  let best = { x: pictures[0].width / 2, score: -1 };
  for (const at of first)
    for (const b of boxes) {
      const left = Math.min(at.x, Math.max(at.x + at.w - wide, b.x));
      const inside = boxes.filter((o) => o.x >= left && o.x + o.w <= left + wide);
      if (inside.length <= best.score) continue;
      const { x0, x1 } = hull(inside);
      best = { x: (x0 + x1) / 2, score: inside.length };
    }
  return best.x;
}

/**
 * What stands in the middle, to be found again in another session over the same graph: nodes of the
 * source, the nearest first, and where the camera stands beside each.
 * @param {Stage} stage
 */
export function aroundMiddle({ session: s, camera, panes }) {
  const { x, y } = camera;
  const boxes = panes[camera.lead].picture?.boxes ?? [];
  return boxes
    .filter(({ kind, occ }) => s && kind === "node" && occ < s.union.sources)
    .map((b) => ({
      id: s?.union.recs[b.occ].id ?? "",
      dx: x - b.x - b.w / 2,
      dy: y - b.y - b.h / 2,
    }))
    .sort((a, b) => Math.hypot(a.dx, a.dy) - Math.hypot(b.dx, b.dy));
}

/** The camera where it stood beside them. @param {Stage} stage @param {ReturnType<typeof aroundMiddle>} places */
export function showAgain(stage, places) {
  const { session: s, camera } = stage;
  const pane = stage.panes[camera.lead];
  const byKey = s?.picture(pane.which).byKey;
  camera.slack = 0; // it was of another layout
  for (const { id, dx, dy } of places) {
    const b = s && byKey?.get(s.boxOf(id));
    if (b?.kind !== "node") continue;
    camera.flyTo({ x: b.x + b.w / 2 + dx, y: b.y + b.h / 2 + dy }, 0);
    break;
  }
}

/** The whole graph, in all panes. @param {Stage} stage @param {number} ms */
export function showAll(stage, ms) {
  const s = stage.session;
  if (!s) return;
  const pictures = stage.shown.map((pane) => s.picture(pane.which));
  const width = Math.max(...pictures.map((p) => p.width));
  const scales = stage.shown.flatMap((pane, i) => [
    (pane.width - 40) / Math.max(1, width),
    (pane.height - 40) / Math.max(1, pictures[i].height),
  ]);
  const k = Math.max(0.02, Math.min(1.25, ...scales));
  const middles = pictures.map((p) => p.height / 2);
  const y = middles[middles.length - 1];
  stage.camera.follow(1);
  stage.camera.flyTo({ k, x: width / 2, y }, ms, middles[0]);
  stage.invalidate();
}

/** A box in the middle. @param {Stage} stage @param {number} key @param {number} ms @param {Which} [prefer] */
export function showBox(stage, key, ms, prefer) {
  const s = stage.session;
  if (!s) return;
  const order = prefer === "before" ? stage.shown : [...stage.shown].reverse();
  for (const pane of order) {
    const b = s.picture(pane.which).byKey.get(key);
    if (!b) continue;
    stage.camera.follow(pane.index);
    stage.camera.flyTo(
      { x: b.x + b.w / 2, y: b.y + Math.min(b.h, 200) / 2, k: Math.max(stage.camera.k, 0.7) },
      ms,
    );
    stage.invalidate();
    return;
  }
}

/**
 * What the current rewrite touched, in the middle; its root where all of it is farther apart than
 * the pane is large. @param {Stage} stage @param {number} ms
 */
export function showChange(stage, ms) {
  const s = stage.session;
  if (!s?.current) return;
  const lead = stage.shown.find(({ which }) => s.changeBounds(which));
  const all = lead && s.changeBounds(lead.which);
  if (!all) return;
  const { k } = stage.camera;
  const fits = all.x1 - all.x0 < lead.width / k && all.y1 - all.y0 < lead.height / k;
  const bounds = (!fits && s.rootBounds(lead.which)) || all;
  stage.camera.follow(lead.index);
  const view = stage.camera.flight?.to ?? lead.view;
  const x = (bounds.x0 + bounds.x1) / 2;
  const y = (bounds.y0 + bounds.y1) / 2;
  const hx = lead.width / 2 / k - 30;
  const dx = bounds.x0 < view.x - hx || bounds.x1 > view.x + hx ? x : view.x;
  stage.camera.flyTo({ x: dx, y }, ms);
  stage.invalidate();
}
