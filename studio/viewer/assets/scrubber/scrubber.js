// @ts-check
// The signature: one bar a rewrite, coloured by family, as high as what it saved. Drag, wheel,
// keys. Where there are more rewrites than room, a bar stands for several and the wheel zooms.

import { noun, savings, signed } from "../page/numbers.js";
import { makeBars, scaleOf, stepsPerBar } from "./bars.js";
import { Comparison } from "../session/comparison.js";
import { fill, h } from "../page/dom.js";
import { Stamped } from "../page/stamped.js";
import { PlayBar } from "./play-bar.js";
import { SPEEDS } from "./playback.js";
import { drawStrip } from "./strip.js";

const METRICS = [
  ["nodes", "nodes", ""],
  ["bytes", "bytes", "B"],
  ["flops", "FLOP", "FLOP"],
];
const MARGIN = 0.1; // of the part that is shown, between the step that left it and its new edge
const WIDEST_PX = 24; // of a bar, zoomed in
const ZOOM = 0.0022; // powers of e, per pixel of the wheel
const PASSES = 3; // that the tip names

export class Scrubber {
  /** @param {Context} context @param {Tooltip} tip */
  constructor({ state, actions }, tip) {
    const jump = (/** @type {number} */ k) => actions.goto(k, { dragging: true });
    this.state = state;
    this.span = new Span();
    this.seen = 0;
    /** @type {StepRecord[]} */ this.spanned = [];
    /** @type {Stamped<{bars: import("./bars.js").Bar[], scale: ReturnType<typeof scaleOf>}>} */
    this.made = new Stamped();
    this.bar = new PlayBar(tip, {
      shape: "pl-scrub",
      name: "Steps",
      strip: "Rewrite step",
      ways: {
        first: ["Source graph (Home)", () => actions.goto(0)],
        backLong: ["Previous pass ([)", () => actions.passBy(-1)],
        back: ["Previous step (←)", () => actions.stepBy(-1)],
        next: ["Next step (→)", () => actions.stepBy(1)],
        nextLong: ["Next pass (])", () => actions.passBy(1)],
        last: ["Last step (End)", () => actions.goto(Infinity)],
      },
      heights: METRICS,
      speeds: {
        name: "Playing speed",
        all: SPEEDS,
        set: (speed) => actions.playback.setSpeed(speed),
      },
      count: () => this.steps.length,
      toggle: () => actions.playback.toggle(),
      halt: () => actions.playback.stop(),
      jump,
      wheeled: (by) => by && jump((state.session?.step ?? 0) + by),
      redraw: () => this.redraw(),
      words: (k) => this.#words(k),
      rescaled: () => this.render(),
      shown: this.span,
      zoom: (e, at) => this.#zoom(e, at),
      zoomOut: () => {
        this.span.all();
        this.#zoomed();
      },
    });
    this.el = this.bar.el;
  }

  get steps() {
    return this.state.session?.steps ?? [];
  }

  /** Steps that one bar stands for. */
  get each() {
    return stepsPerBar(this.span.length, this.bar.canvas.clientWidth);
  }

  /** All bars and their scale, whatever part is shown: nothing changes height while it moves. */
  get bars() {
    const { spanned, each } = this;
    const { height } = this.bar;
    return this.made.get("bars", [spanned, height, each], () => {
      const bars = makeBars(spanned, each, (step) => this.saving(step));
      return { bars, scale: scaleOf(bars) };
    });
  }

  /** Of another trace all is shown. */
  #meet() {
    const { steps } = this;
    if (steps === this.spanned) return;
    this.spanned = steps;
    this.span.all(steps.length);
  }

  /** @param {WheelEvent} e @param {number} at */
  #zoom(e, at) {
    const asked = e.ctrlKey || e.metaKey;
    if (!asked && this.each === 1 && !this.span.zoomed) return false;
    const sideways = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
    if (sideways && !this.span.zoomed) return false;
    const width = this.bar.canvas.clientWidth;
    const turned = sideways ? e.deltaX || e.deltaY : e.deltaY;
    if (sideways) this.span.pan(turned / width);
    else this.span.zoom(Math.exp(-turned * ZOOM), at, width / WIDEST_PX);
    this.#zoomed();
    return true;
  }

  #zoomed() {
    this.redraw();
    this.state.changed("drawn");
  }

  redraw() {
    this.#meet();
    drawStrip(this);
  }

  render() {
    const { session: s } = this.state;
    const n = this.steps.length;
    const { where, below, height } = this.bar;
    this.#meet();
    if (s && s.step !== this.seen) this.span.show(s.step);
    this.seen = s?.step ?? 0;
    fill(where, h("b", String(s?.step ?? 0)), `/${n}`);
    const saved = s ? this.#sum(s.step) : 0;
    const unit = METRICS.find((m) => m[0] === height)?.[2] ?? "";
    const nodes = height === "nodes" ? ` ${noun(saved, "node")}` : "";
    const total = n ? `${signed(saved, unit)}${nodes}` : "no rewrites";
    below.textContent = s instanceof Comparison ? "rewrites that differ" : total;
    const text = s?.current ? `step ${s.step} of ${n}, ${s.current.rule}` : "source graph";
    this.bar.showPlace(s?.step ?? 0, text);
    this.redraw();
  }

  renderPlay() {
    this.bar.showPlaying(this.state.playing);
  }

  /** For tests: the part of all steps that is shown, and how many stand in one bar. */
  report() {
    return { from: this.span.from, to: this.span.to, each: this.each };
  }

  /** @param {StepRecord} step */
  saving(step) {
    const delta = /** @type {Record<string, number>} */ (step.delta ?? {});
    return -(delta[this.bar.height] ?? 0);
  }

  /** Change since the source, up to a step. @param {number} step */
  #sum(step) {
    let sum = 0;
    for (let i = 0; i < step; i++) sum -= this.saving(this.steps[i]);
    return sum;
  }

  /** @param {number} k @returns {any[]} */
  #words(k) {
    const { session: s } = this.state;
    const step = s?.steps[k - 1];
    if (!s || !step) return [h("b", s instanceof Comparison ? "All that differs" : "Source graph")];
    const bar = this.bars.bars[Math.floor((k - 1) / this.each)];
    if (bar && bar.to - bar.from > 1) return this.#several(bar);
    const root = s.union.index.get(step.root);
    return [
      h("b", `${step.n}  ${s.trace?.passes[step.pass]?.title ?? step.rule}`),
      h("div", step.rule),
      h("div.pl-dim", root === undefined ? step.root : s.union.recs[root].name),
      h("div", savedText([step.delta ?? {}])),
    ];
  }

  /** What the tip says of a bar of several steps. @param {import("./bars.js").Bar} bar */
  #several({ from, to }) {
    const steps = this.steps.slice(from, to);
    const titles = this.state.session?.trace?.passes ?? [];
    /** @type {Map<number, number>} */
    const by = new Map();
    for (const { pass } of steps) by.set(pass, (by.get(pass) ?? 0) + 1);
    const most = [...by].sort((a, b) => b[1] - a[1]);
    const more = most.length - PASSES;
    return [
      h("b", `Steps ${from + 1} to ${to}`),
      ...most
        .slice(0, PASSES)
        .map(([pass, n]) => h("div", `${titles[pass]?.title ?? "pass"} · ${n}`)),
      more > 0 ? h("div", `and ${more} more passes`) : "",
      h("div", savedText(steps.map((step) => step.delta ?? {}))),
      h("div.pl-dim", "Wheel zooms, double click shows all"),
    ];
  }
}

/** @param {import("../page/numbers.js").Delta[]} deltas */
const savedText = (deltas) =>
  savings(deltas)
    .map((words) => words.join(" "))
    .join("   ");

/** The part of all steps that the strip shows. Wheel zooms it; whoever steps out of it takes it along. */
class Span {
  constructor() {
    this.count = 0;
    this.from = 0;
    this.to = 0;
  }

  /** Another trace: everything. @param {number} count */
  all(count = this.count) {
    this.count = count;
    this.from = 0;
    this.to = count;
  }

  get length() {
    return this.to - this.from;
  }
  get zoomed() {
    return this.length < this.count;
  }

  /**
   * @param {number} factor above 1 shows less
   * @param {number} at share of the strip that stays where it is
   * @param {number} least steps to show
   */
  zoom(factor, at, least) {
    const fixed = this.from + at * this.length;
    const length = Math.min(
      this.count,
      Math.max(Math.min(least, this.count), this.length / factor),
    );
    this.#put(fixed - at * length, length);
  }

  /** @param {number} share of its own length */
  pan(share) {
    this.#put(this.from + share * this.length, this.length);
  }

  /** @param {number} step */
  show(step) {
    const { length } = this;
    if (step > this.to) this.#put(step - MARGIN * length, length);
    else if (step - 1 < this.from) this.#put(step - (1 - MARGIN) * length, length);
  }

  /** @param {number} from @param {number} length */
  #put(from, length) {
    this.from = Math.max(0, Math.min(this.count - length, from));
    this.to = this.from + length;
  }
}
