// @ts-check
// The signature: one bar a rewrite, coloured by family, as high as what it saved. Drag, wheel,
// keys.

import { fill, h } from "./dom.js";
import { SPEEDS } from "./navigate.js";
import { noun, signed } from "./numbers.js";
import { PlayBar } from "./playbar.js";
import { drawStrip } from "./strip.js";

const METRICS = [
  ["nodes", "nodes", ""],
  ["bytes", "bytes", "B"],
  ["flops", "FLOP", "FLOP"],
];

export class Scrubber extends PlayBar {
  /** @param {import("./viewer.js").Viewer} viewer @param {import("./tooltip.js").Tooltip} tip */
  constructor(viewer, tip) {
    const { nav } = viewer;
    super(tip, {
      shape: "pl-scrub",
      name: "Steps",
      strip: "Rewrite step",
      ways: {
        first: ["Source graph (Home)", () => nav.goto(0)],
        backLong: ["Previous pass ([)", () => nav.passBy(-1)],
        back: ["Previous step (←)", () => nav.stepBy(-1)],
        next: ["Next step (→)", () => nav.stepBy(1)],
        nextLong: ["Next pass (])", () => nav.passBy(1)],
        last: ["Last step (End)", () => nav.goto(Infinity)],
      },
      toggle: () => nav.togglePlay(),
      heights: METRICS,
      speeds: { name: "Playing speed", all: SPEEDS, set: (speed) => nav.setSpeed(speed) },
    });
    this.viewer = viewer;
  }

  /** @override */
  get count() {
    return this.viewer.session?.steps.length ?? 0;
  }

  /** @override @param {number} k */
  jump(k) {
    this.viewer.nav.goto(k, { dragging: true });
  }

  /** @override @param {number} by */
  turn(by) {
    if (by) this.jump((this.viewer.session?.step ?? 0) + by);
  }

  /** @override */
  halt() {
    this.viewer.nav.stop();
  }

  /** @override */
  redraw() {
    drawStrip(this);
  }

  /** @override */
  rescaled() {
    this.render();
  }

  render() {
    const { session: s } = this.viewer;
    const n = this.count;
    fill(this.where, h("b", null, String(s?.step ?? 0)), `/${n}`);
    const saved = s ? this.#sum(s.step) : 0;
    const unit = METRICS.find((m) => m[0] === this.height)?.[2] ?? "";
    const nodes = this.height === "nodes" ? ` ${noun(saved, "node")}` : "";
    this.below.textContent = n ? `${signed(saved, unit)}${nodes}` : "no rewrites";
    const text = s?.current ? `step ${s.step} of ${n}, ${s.current.rule}` : "source graph";
    this.showPlace(s?.step ?? 0, text);
    this.redraw();
  }

  renderPlay() {
    this.showPlaying(this.viewer.nav.playing);
  }

  /** @param {import("./types.js").StepRecord} step */
  saving(step) {
    return -(/** @type {any} */ (step.delta)?.[this.height] ?? 0);
  }

  /** Change since the source, up to a step. @param {number} step */
  #sum(step) {
    const steps = this.viewer.session?.steps ?? [];
    let sum = 0;
    for (let i = 0; i < step; i++) sum -= this.saving(steps[i]);
    return sum;
  }

  /** @override @param {number} k @returns {any[]} */
  words(k) {
    const { session: s } = this.viewer;
    const step = s?.steps[k - 1];
    if (!s || !step) return [h("b", null, "Source graph")];
    const root = s.union.index.get(step.root);
    const d = step.delta ?? {};
    const saved = [
      d.nodes ? `${signed(d.nodes, "")} ${noun(d.nodes, "node")}` : "",
      d.bytes ? signed(d.bytes, "B") : "",
      d.flops ? signed(d.flops, "FLOP") : "",
    ];
    return [
      h("b", null, `${step.n}  ${s.trace?.passes[step.pass]?.title ?? step.rule}`),
      h("div", null, step.rule),
      h("div.pl-dim", null, root === undefined ? step.root : s.union.recs[root].name),
      h("div", null, saved.filter(Boolean).join("   ")),
    ];
  }
}
