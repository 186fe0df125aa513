// @ts-check
// The strip of the scrubber: bars, hand-overs between passes, the cursor.

/** @typedef {import("./scrubber.js").Scrubber} Scrubber */

const TOP = 9;
const BASE = 6;

/** @param {Scrubber} strip */
export function drawStrip(strip) {
  const { session: s, theme } = strip.viewer;
  const r = strip.canvas.getBoundingClientRect();
  if (!r.width || !theme) return;
  const dpr = window.devicePixelRatio || 1;
  strip.canvas.width = Math.round(r.width * dpr);
  strip.canvas.height = Math.round(r.height * dpr);
  const c = /** @type {CanvasRenderingContext2D} */ (strip.canvas.getContext("2d"));
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.clearRect(0, 0, r.width, r.height);
  const steps = s?.steps ?? [];
  const floor = r.height - BASE;
  c.fillStyle = theme.border;
  c.fillRect(0, floor, r.width, 1);
  if (!s || !steps.length) return;
  bars(strip, c, { w: r.width, floor, steps, at: s.step });
  handovers(strip, c, { w: r.width, h: r.height, floor });
  const x = Math.min(r.width - 1, Math.max(1, s.step * (r.width / steps.length)));
  c.fillStyle = theme.primary;
  c.fillRect(x - 1, 2, 2, r.height - 3);
  c.beginPath();
  c.arc(x, 4, 4, 0, 7);
  c.fill();
}

/**
 * @param {Scrubber} strip
 * @param {CanvasRenderingContext2D} c
 * @param {{w: number, floor: number, steps: import("./types.js").StepRecord[], at: number}} v
 */
function bars(strip, c, { w, floor, steps, at }) {
  const theme = /** @type {import("./theme.js").Theme} */ (strip.viewer.theme);
  const passes = strip.viewer.session?.trace?.passes ?? [];
  const most = Math.sqrt(steps.reduce((m, s) => Math.max(m, Math.abs(strip.saving(s))), 1));
  const wide = w / steps.length;
  const each = Math.max(1, Math.ceil(1 / wide)); // steps behind one pixel column
  const gap = wide > 4 ? 1 : wide > 2 ? 0.5 : 0;
  for (let i = 0; i < steps.length; i += each) {
    let best = steps[i];
    for (let j = i + 1; j < Math.min(steps.length, i + each); j++)
      if (Math.abs(strip.saving(steps[j])) > Math.abs(strip.saving(best))) best = steps[j];
    const saving = strip.saving(best);
    const tall = saving ? Math.max(4, (Math.sqrt(Math.abs(saving)) / most) * (floor - TOP)) : 2.5;
    const colour = theme.family(passes[best.pass]?.family ?? "");
    const x = i * wide,
      bw = Math.max(1, wide * each - gap);
    c.globalAlpha = i < at ? 1 : 0.38;
    if (i === at - 1 || i === strip.hover - 1) c.globalAlpha = 1;
    if (saving < 0) {
      c.strokeStyle = colour;
      c.lineWidth = 1;
      c.strokeRect(x + 0.5, floor - tall + 0.5, Math.max(1, Math.min(bw, 24) - 1), tall - 1);
    } else {
      c.fillStyle = colour;
      c.fillRect(x, floor - tall, Math.min(bw, 40), tall);
    }
  }
  c.globalAlpha = 1;
}

/**
 * Where a pass hands over to the next, and thin ticks for passes that found nothing there.
 * @param {Scrubber} strip
 * @param {CanvasRenderingContext2D} c
 * @param {{w: number, h: number, floor: number}} v
 */
function handovers(strip, c, { w, h: tall, floor }) {
  const { session: s, theme } = strip.viewer;
  if (!s || !theme || !s.trace) return;
  const wide = w / s.steps.length;
  const enabled = new Set(strip.viewer.data?.pipeline?.enabled ?? []);
  let last = -9;
  for (let i = 0; i < s.steps.length; i++) {
    const before = s.steps[i - 1],
      now = s.steps[i];
    if (before && before.pass === now.pass) continue;
    const x = i * wide;
    if (i && x - last > 5) {
      c.fillStyle = theme.faint;
      c.fillRect(x - 0.5, floor, 1, tall - floor);
      last = x;
    }
    const from = before && before.pass < now.pass ? before.pass + 1 : 0;
    let ticks = 0;
    for (let p = from; p < now.pass; p++)
      if (!s.trace.passes[p].fired && enabled.has(s.trace.passes[p].id)) ticks++;
    c.fillStyle = theme.faint;
    for (let t = 0; t < Math.min(ticks, 6) && wide > 2; t++)
      c.fillRect(x + 1 + t * 3, floor + 2, 1, 3);
  }
}
