// @ts-check
// Where the camera goes: the top, everything, one box, the change.

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("./session.js").Which} Which */

/** The top of the graph, readable. @param {Stage} stage */
export function showTop(stage) {
  const s = stage.session;
  if (!s) return;
  const pane = stage.panes[1];
  const p = s.picture(stage.which(pane));
  const w = pane.width || 600;
  const tall = pane.height || 500;
  const wide = (w - 48) / Math.max(1, p.width);
  const whole = Math.min(wide, (tall - 48) / Math.max(1, p.height));
  const k = Math.min(1, Math.max(0.7, whole > 0.7 ? whole : wide));
  stage.camera.lead = 1;
  let x = p.width / 2;
  let top = 0;
  if (p.width * k > w - 24) {
    const best = fullest(p, w / k - 40, tall / k);
    x = best.x;
    top = best.top;
  }
  const y = p.height * k < tall - 48 ? p.height / 2 : top + tall / 2 / k - 28;
  stage.camera.flyTo({ k, x, y }, 0);
  stage.camera.alignTops();
  stage.invalidate();
}

/**
 * Wider than the pane: where near the top does a window of this size hold most boxes?
 * @param {import("./place.js").Picture} p
 * @param {number} wide
 * @param {number} tall
 */
function fullest(p, wide, tall) {
  const boxes = p.boxes.filter((b) => b.kind !== "open" && b.y < tall * 1.5);
  let best = { x: p.width / 2, top: 0, score: -1 };
  for (const b of boxes) {
    for (const x of [b.x + b.w / 2, b.x + wide / 2 - 10]) {
      const inside = boxes.filter((o) => o.x > x - wide / 2 && o.x + o.w < x + wide / 2);
      const top = inside.reduce((y, o) => Math.min(y, o.y), Infinity);
      const seen = inside.filter((o) => o.y < top + tall - 60).length;
      const score = seen - top / 200; // boxes in sight, but rather near the top
      if (score > best.score) best = { x, top: Math.max(0, top - 20), score };
    }
  }
  return best;
}

/** @param {Stage} stage @param {number} ms */
export function showAll(stage, ms) {
  const s = stage.session;
  if (!s) return;
  const pane = stage.panes[1];
  const p = s.picture(stage.which(pane));
  stage.camera.follow(1);
  const k = Math.min(
    1.25,
    (pane.width - 40) / Math.max(1, p.width),
    (pane.height - 40) / Math.max(1, p.height),
  );
  stage.camera.flyTo({ k: Math.max(0.02, k), x: p.width / 2, y: p.height / 2 }, ms);
  stage.invalidate();
}

/** @param {Stage} stage @param {number} key @param {number} ms @param {Which} [prefer] */
export function showBox(stage, key, ms, prefer) {
  const s = stage.session;
  if (!s) return;
  const order = prefer === "before" ? stage.shown : [...stage.shown].reverse();
  for (const pane of order) {
    const b = s.picture(stage.which(pane)).byKey.get(key);
    if (!b) continue;
    stage.camera.follow(pane === stage.panes[0] ? 0 : 1);
    stage.camera.flyTo(
      { x: b.x + b.w / 2, y: b.y + Math.min(b.h, 200) / 2, k: Math.max(stage.camera.k, 0.7) },
      ms,
    );
    stage.invalidate();
    return;
  }
}

/** @param {Stage} stage @param {number} ms */
export function showChange(stage, ms) {
  const s = stage.session;
  if (!s || !s.current) return;
  const pane = stage.shown[0];
  let bounds = s.changeBounds(stage.which(pane));
  let lead = pane;
  if (!bounds) {
    lead = stage.panes[1];
    bounds = s.changeBounds(stage.which(lead));
  }
  if (!bounds) return;
  const index = lead === stage.panes[0] ? 0 : 1;
  stage.camera.follow(index);
  const view = stage.camera.flight ? { ...stage.camera.flight.to } : stage.camera.view(index);
  const x = (bounds.x0 + bounds.x1) / 2;
  const y = (bounds.y0 + bounds.y1) / 2;
  const hx = lead.width / 2 / stage.camera.k - 30;
  const dx = bounds.x0 < view.x - hx || bounds.x1 > view.x + hx ? x : view.x;
  stage.camera.flyTo({ x: dx, y }, ms);
  stage.invalidate();
}
