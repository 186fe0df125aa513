// @ts-check
// The signature: one bar a rewrite, coloured by family, as high as what it saved. Drag, wheel, keys.

import { button, fill, h, icon, signed } from "./dom.js";
import { SPEEDS } from "./navigate.js";

/** @type {[string, string, string][]} */
const METRICS = [["nodes", "nodes", ""], ["bytes", "bytes", "B"], ["flops", "FLOPs", "FLOP"]];
const ICONS = {
  first: "M3 3v10M13 3v10L5.5 8z", last: "M13 3v10M3 3v10l7.5-5z", back: "M11 3v10L4 8z", next: "M5 3v10l7-5z",
  backPass: "M8 3v10L2.5 8zM14 3v10L8.5 8z", nextPass: "M2 3v10l5.5-5zM8 3v10l5.5-5z", play: "M4 2.5v11l9-5.5z", pause: "M4.5 3h2v10h-2zM9.5 3h2v10h-2z",
};
const TOP = 9;
const BASE = 6;

export class Scrubber {
  /** @param {import("./viewer.js").Viewer} viewer @param {import("./tooltip.js").Tooltip} tip */
  constructor(viewer, tip) {
    this.viewer = viewer;
    this.tip = tip;
    this.metric = "nodes";
    this.hover = -1;
    const { nav } = viewer;
    const tool = (/** @type {string} */ label, /** @type {string} */ path, /** @type {() => void} */ act) => { const b = button(label, "", act); b.append(icon(path)); return b; };
    this.play = button("Play (space)", "", () => nav.togglePlay(), "pl-play");
    this.canvas = h("canvas", { tabindex: 0, role: "slider", "aria-label": "Rewrite step", "aria-valuemin": 0 });
    this.where = h("span.pl-where");
    this.totals = h("span.pl-totals");
    const metric = h("select", { "aria-label": "Height of the bars", onchange: (/** @type {any} */ e) => { this.metric = e.target.value; this.render(); } }, ...METRICS.map(([v, t]) => h("option", { value: v }, t)));
    const speed = h("select", { "aria-label": "Playing speed", onchange: (/** @type {any} */ e) => nav.setSpeed(Number(e.target.value)) }, ...SPEEDS.map((v) => h("option", { value: v, selected: v === 1 }, `${v}×`)));
    this.el = h("footer.pl-scrub", { "aria-label": "Steps" },
      h("div.pl-buttons", null, tool("Source graph (Home)", ICONS.first, () => nav.goto(0)), tool("Previous pass ([)", ICONS.backPass, () => nav.passBy(-1)), tool("Previous step (←)", ICONS.back, () => nav.stepBy(-1)), this.play,
        tool("Next step (→)", ICONS.next, () => nav.stepBy(1)), tool("Next pass (])", ICONS.nextPass, () => nav.passBy(1)), tool("Last step (End)", ICONS.last, () => nav.goto(Infinity))),
      h("div.pl-strip", null, this.canvas), h("div.pl-state", null, this.where, this.totals), h("div.pl-selects", null, metric, speed));
    this.#listen();
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
  }

  dispose() { this.observer.disconnect(); }

  render() {
    const s = this.viewer.session;
    const n = s?.steps.length ?? 0;
    this.el.classList.toggle("pl-none", n === 0);
    fill(this.where, h("b", null, String(s?.step ?? 0)), `/${n}`);
    const saved = s ? this.#sum(s.step) : 0;
    const unit = METRICS.find((m) => m[0] === this.metric)?.[2] ?? "";
    const noun = this.metric === "nodes" ? " nodes" : "";
    fill(this.totals, n ? `${signed(saved, unit)}${noun}` : "no rewrites");
    this.canvas.setAttribute("aria-valuemax", String(n));
    this.canvas.setAttribute("aria-valuenow", String(s?.step ?? 0));
    this.canvas.setAttribute("aria-valuetext", s?.current ? `step ${s.step} of ${n}, ${s.current.rule}` : "source graph");
    this.draw();
  }

  renderPlay() {
    const { nav } = this.viewer;
    fill(this.play, icon(nav.playing ? ICONS.pause : ICONS.play));
    this.play.setAttribute("aria-label", nav.playing ? "Pause (space)" : "Play (space)");
  }

  /** @param {import("./types.js").StepRecord} step */
  #saving(step) { return -(/** @type {any} */ (step.delta)?.[this.metric] ?? 0); }

  /** Change since the source, up to a step. @param {number} step */
  #sum(step) {
    const steps = this.viewer.session?.steps ?? [];
    let sum = 0;
    for (let i = 0; i < step; i++) sum -= this.#saving(steps[i]);
    return sum;
  }

  draw() {
    const { session: s, theme } = this.viewer;
    const r = this.canvas.getBoundingClientRect();
    if (!r.width || !theme) return;
    const dpr = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(r.width * dpr);
    this.canvas.height = Math.round(r.height * dpr);
    const c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.clearRect(0, 0, r.width, r.height);
    const steps = s?.steps ?? [];
    const floor = r.height - BASE;
    c.fillStyle = theme.border;
    c.fillRect(0, floor, r.width, 1);
    if (!s || !steps.length) return;
    this.#bars(c, { w: r.width, floor, steps, at: s.step });
    this.#rounds(c, { w: r.width, h: r.height, floor });
    const x = Math.min(r.width - 1, Math.max(1, s.step * (r.width / steps.length)));
    c.fillStyle = theme.primary;
    c.fillRect(x - 1, 2, 2, r.height - 3);
    c.beginPath();
    c.arc(x, 4, 4, 0, 7);
    c.fill();
  }

  /** @param {CanvasRenderingContext2D} c @param {{w: number, floor: number, steps: import("./types.js").StepRecord[], at: number}} v */
  #bars(c, { w, floor, steps, at }) {
    const theme = /** @type {import("./theme.js").Theme} */ (this.viewer.theme);
    const passes = this.viewer.session?.trace?.passes ?? [];
    const most = Math.sqrt(steps.reduce((m, s) => Math.max(m, Math.abs(this.#saving(s))), 1));
    const wide = w / steps.length;
    const each = Math.max(1, Math.ceil(1 / wide));      // steps behind one pixel column
    const gap = wide > 4 ? 1 : wide > 2 ? 0.5 : 0;
    for (let i = 0; i < steps.length; i += each) {
      let best = steps[i];
      for (let j = i + 1; j < Math.min(steps.length, i + each); j++) if (Math.abs(this.#saving(steps[j])) > Math.abs(this.#saving(best))) best = steps[j];
      const saving = this.#saving(best);
      const tall = saving ? Math.max(4, (Math.sqrt(Math.abs(saving)) / most) * (floor - TOP)) : 2.5;
      const colour = theme.family(passes[best.pass]?.family ?? "");
      const x = i * wide, bw = Math.max(1, wide * each - gap);
      c.globalAlpha = i < at ? 1 : 0.38;
      if (i === at - 1 || i === this.hover - 1) c.globalAlpha = 1;
      if (saving < 0) { c.strokeStyle = colour; c.lineWidth = 1; c.strokeRect(x + 0.5, floor - tall + 0.5, Math.max(1, Math.min(bw, 24) - 1), tall - 1); }
      else { c.fillStyle = colour; c.fillRect(x, floor - tall, Math.min(bw, 40), tall); }
    }
    c.globalAlpha = 1;
  }

  /** Where a pass hands over to the next, and thin ticks for passes that found nothing there. @param {CanvasRenderingContext2D} c @param {{w: number, h: number, floor: number}} v */
  #rounds(c, { w, h: tall, floor }) {
    const { session: s, theme } = this.viewer;
    if (!s || !theme || !s.trace) return;
    const wide = w / s.steps.length;
    const enabled = new Set(this.viewer.data?.pipeline?.enabled ?? []);
    let last = -9;
    for (let i = 0; i < s.steps.length; i++) {
      const before = s.steps[i - 1], now = s.steps[i];
      if (before && before.pass === now.pass) continue;
      const x = i * wide;
      if (i && x - last > 5) { c.fillStyle = theme.faint; c.fillRect(x - 0.5, floor, 1, tall - floor); last = x; }
      const from = before && before.pass < now.pass ? before.pass + 1 : 0;
      let ticks = 0;
      for (let p = from; p < now.pass; p++) if (!s.trace.passes[p].fired && enabled.has(s.trace.passes[p].id)) ticks++;
      c.fillStyle = theme.faint;
      for (let t = 0; t < Math.min(ticks, 6) && wide > 2; t++) c.fillRect(x + 1 + t * 3, floor + 2, 1, 3);
    }
  }

  /** @param {MouseEvent} e @returns {number} */
  #stepAt(e) {
    const r = this.canvas.getBoundingClientRect();
    const n = this.viewer.session?.steps.length ?? 0;
    const t = (e.clientX - r.left) / r.width;
    return t <= 0.002 ? 0 : Math.min(n, Math.max(0, Math.ceil(t * n)));
  }

  #listen() {
    const { canvas, viewer } = this;
    const { nav } = viewer;
    let dragging = false;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      dragging = true;
      nav.stop();
      try { canvas.setPointerCapture(e.pointerId); } catch { /* a synthetic pointer cannot be captured */ }
      nav.goto(this.#stepAt(e), { dragging: true });
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      if (dragging) { nav.goto(this.#stepAt(e), { dragging: true }); return; }
      const k = this.#stepAt(e);
      if (k !== this.hover) { this.hover = k; this.draw(); this.#tell(k, e); }
    });
    canvas.addEventListener("pointerup", () => { dragging = false; });
    canvas.addEventListener("pointercancel", () => { dragging = false; });
    canvas.addEventListener("pointerleave", () => { this.hover = -1; this.tip.hide(); this.draw(); });
    let rest = 0;
    canvas.addEventListener("wheel", (/** @type {WheelEvent} */ e) => {
      e.preventDefault();
      rest += (Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) / 40;
      const by = Math.trunc(rest);
      rest -= by;
      if (by) nav.goto((viewer.session?.step ?? 0) + by, { dragging: true });
    }, { passive: false });
  }

  /** @param {number} k @param {MouseEvent} e */
  #tell(k, e) {
    const s = this.viewer.session;
    const step = s?.steps[k - 1];
    const at = { clientX: e.clientX, clientY: this.canvas.getBoundingClientRect().top - 96 };
    if (!s || !step) { this.tip.show([h("b", null, "Source graph")], at, 80); return; }
    const root = s.union.index.get(step.root);
    const d = step.delta ?? {};
    this.tip.show([
      h("b", null, `${step.n}  ${s.trace?.passes[step.pass]?.title ?? step.rule}`), h("div", null, step.rule),
      h("div.pl-dim", null, root === undefined ? step.root : s.union.recs[root].name),
      h("div", null, [d.nodes ? `${signed(d.nodes, "")} nodes` : "", d.bytes ? signed(d.bytes, "B") : "", d.flops ? signed(d.flops, "FLOP") : ""].filter(Boolean).join("   ")),
    ], at, 80);
  }
}

