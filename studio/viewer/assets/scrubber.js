// @ts-check
// The signature: one bar a rewrite, coloured by family, as high as what it saved. Drag, wheel,
// keys.

import { button, fill, h, icon, signed } from "./dom.js";
import { SPEEDS } from "./navigate.js";
import { drawStrip } from "./strip.js";

/** @type {[string, string, string][]} */
const METRICS = [
  ["nodes", "nodes", ""],
  ["bytes", "bytes", "B"],
  ["flops", "FLOPs", "FLOP"],
];
export const ICONS = {
  first: "M3 3v10M13 3v10L5.5 8z",
  last: "M13 3v10M3 3v10l7.5-5z",
  back: "M11 3v10L4 8z",
  next: "M5 3v10l7-5z",
  backPass: "M8 3v10L2.5 8zM14 3v10L8.5 8z",
  nextPass: "M2 3v10l5.5-5zM8 3v10l5.5-5z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4.5 3h2v10h-2zM9.5 3h2v10h-2z",
};

export class Scrubber {
  /** @param {import("./viewer.js").Viewer} viewer @param {import("./tooltip.js").Tooltip} tip */
  constructor(viewer, tip) {
    this.viewer = viewer;
    this.tip = tip;
    this.metric = "nodes";
    this.hover = -1;
    const { nav } = viewer;
    const tool = (
      /** @type {string} */ label,
      /** @type {string} */ path,
      /** @type {() => void} */ act,
    ) => {
      const b = button(label, "", act);
      b.append(icon(path));
      return b;
    };
    this.play = button("Play (space)", "", () => nav.togglePlay(), "pl-play");
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "slider",
      "aria-label": "Rewrite step",
      "aria-valuemin": 0,
    });
    this.where = h("span.pl-where");
    this.totals = h("span.pl-totals");
    const metric = h(
      "select",
      {
        "aria-label": "Height of the bars",
        onchange: (/** @type {any} */ e) => {
          this.metric = e.target.value;
          this.render();
        },
      },
      ...METRICS.map(([v, t]) => h("option", { value: v }, t)),
    );
    const speed = h(
      "select",
      {
        "aria-label": "Playing speed",
        onchange: (/** @type {any} */ e) => nav.setSpeed(Number(e.target.value)),
      },
      ...SPEEDS.map((v) => h("option", { value: v, selected: v === 1 }, `${v}×`)),
    );
    this.el = h(
      "div.pl-scrub",
      { role: "group", "aria-label": "Steps" },
      h(
        "div.pl-buttons",
        null,
        tool("Source graph (Home)", ICONS.first, () => nav.goto(0)),
        tool("Previous pass ([)", ICONS.backPass, () => nav.passBy(-1)),
        tool("Previous step (←)", ICONS.back, () => nav.stepBy(-1)),
        this.play,
        tool("Next step (→)", ICONS.next, () => nav.stepBy(1)),
        tool("Next pass (])", ICONS.nextPass, () => nav.passBy(1)),
        tool("Last step (End)", ICONS.last, () => nav.goto(Infinity)),
      ),
      h("div.pl-strip", null, this.canvas),
      h("div.pl-state", null, this.where, this.totals),
      h("div.pl-selects", null, metric, speed),
    );
    this.#listen();
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
  }

  dispose() {
    this.observer.disconnect();
  }

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
    this.canvas.setAttribute(
      "aria-valuetext",
      s?.current ? `step ${s.step} of ${n}, ${s.current.rule}` : "source graph",
    );
    this.draw();
  }

  renderPlay() {
    const { nav } = this.viewer;
    fill(this.play, icon(nav.playing ? ICONS.pause : ICONS.play));
    this.play.setAttribute("aria-label", nav.playing ? "Pause (space)" : "Play (space)");
  }

  /** @param {import("./types.js").StepRecord} step */
  saving(step) {
    return -(/** @type {any} */ (step.delta)?.[this.metric] ?? 0);
  }

  /** Change since the source, up to a step. @param {number} step */
  #sum(step) {
    const steps = this.viewer.session?.steps ?? [];
    let sum = 0;
    for (let i = 0; i < step; i++) sum -= this.saving(steps[i]);
    return sum;
  }

  draw() {
    drawStrip(this);
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
      try {
        canvas.setPointerCapture(e.pointerId);
      } catch {
        /* a synthetic pointer cannot be captured */
      }
      nav.goto(this.#stepAt(e), { dragging: true });
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      if (dragging) {
        nav.goto(this.#stepAt(e), { dragging: true });
        return;
      }
      const k = this.#stepAt(e);
      if (k !== this.hover) {
        this.hover = k;
        this.draw();
        this.#tell(k, e);
      }
    });
    canvas.addEventListener("pointerup", () => {
      dragging = false;
    });
    canvas.addEventListener("pointercancel", () => {
      dragging = false;
    });
    canvas.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.tip.hide();
      this.draw();
    });
    let rest = 0;
    canvas.addEventListener(
      "wheel",
      (/** @type {WheelEvent} */ e) => {
        e.preventDefault();
        rest += (Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) / 40;
        const by = Math.trunc(rest);
        rest -= by;
        if (by) nav.goto((viewer.session?.step ?? 0) + by, { dragging: true });
      },
      { passive: false },
    );
  }

  /** @param {number} k @param {MouseEvent} e */
  #tell(k, e) {
    const s = this.viewer.session;
    const step = s?.steps[k - 1];
    const at = { clientX: e.clientX, clientY: this.canvas.getBoundingClientRect().top - 96 };
    if (!s || !step) {
      this.tip.show([h("b", null, "Source graph")], at, 80);
      return;
    }
    const root = s.union.index.get(step.root);
    const d = step.delta ?? {};
    this.tip.show(
      [
        h("b", null, `${step.n}  ${s.trace?.passes[step.pass]?.title ?? step.rule}`),
        h("div", null, step.rule),
        h("div.pl-dim", null, root === undefined ? step.root : s.union.recs[root].name),
        h(
          "div",
          null,
          [
            d.nodes ? `${signed(d.nodes, "")} nodes` : "",
            d.bytes ? signed(d.bytes, "B") : "",
            d.flops ? signed(d.flops, "FLOP") : "",
          ]
            .filter(Boolean)
            .join("   "),
        ),
      ],
      at,
      80,
    );
  }
}
