// @ts-check
// The slider over the steps: one bar a primitive, as high as what it changed. Moving it asks nobody.

import { penOf, drawCursor } from "../canvas/pen.js";
import { fill, h } from "../page/dom.js";
import { bytesText, timesText } from "../page/numbers.js";
import { BASE, PlayBar, TOP } from "../scrubber/play-bar.js";
import { NOT_GUESSED } from "./measured.js";
import { funcColour } from "./nest.js";

/** @typedef {import("./types.js").StepView} StepView */

const STEP_MS = 1100;
const SPEEDS = [0.5, 1, 2, 4];
const LOW = 3; // a step that changed nothing of what is drawn
const AHEAD = 0.4;
const HEIGHTS = [
  ["time", "guessed time"],
  ["l1", "bytes behind L1"],
  ["l2", "bytes behind L2"],
  ["l3", "bytes behind L3"],
  ["held", "bytes held"],
  ["work", "operations"],
  ["lanes", "at a time"],
];
/** @type {Record<string, (step: StepView) => number | null>} less is better, but for lanes */
const VALUES = {
  time: ({ predicted_us: guessed }) => guessed,
  l1: ({ meters }) => meters.moved[0]?.moved_bytes ?? 0,
  l2: ({ meters }) => meters.moved[1]?.moved_bytes ?? 0,
  l3: ({ meters }) => meters.moved[2]?.moved_bytes ?? 0,
  held: ({ meters }) => meters.working_set_bytes,
  work: ({ meters }) => meters.operations,
  lanes: ({ meters }) => 1 / (meters.tasks * meters.lanes),
};

export class Slider {
  /** @param {import("./lab-state.js").LabState} state @param {Tooltip} tip */
  constructor(state, tip) {
    this.state = state;
    this.timer = 0;
    this.speed = 1;
    const way = (/** @type {string} */ text, /** @type {number} */ by) =>
      /** @type {[string, () => void]} */ ([text, () => this.by(by)]);
    this.bar = new PlayBar(tip, {
      shape: "pl-filmbar",
      name: "Steps",
      strip: "Step of the schedule",
      ways: {
        first: way("No primitive (Home)", -Infinity),
        backLong: ["Previous Func's primitives ([)", () => this.toOther(-1)],
        back: way("Previous step (←)", -1),
        next: way("Next step (→)", 1),
        nextLong: ["Next Func's primitives (])", () => this.toOther(1)],
        last: way("Last step (End)", Infinity),
      },
      heights: HEIGHTS,
      speeds: { name: "Playing speed", all: SPEEDS, set: (speed) => this.#setSpeed(speed) },
      count: () => Math.max(0, this.state.steps.length - 1),
      toggle: () => this.toggle(),
      halt: () => this.stop(),
      jump: (k) => this.state.goto(k),
      wheeled: (by) => this.by(by),
      redraw: () => this.#draw(),
      words: (k) => this.#words(k),
    });
    this.bar.el.classList.add("sl-slider");
    this.el = this.bar.el;
    this.bar.showPlaying(false);
    state.watch(["step", "theme"], () => this.render());
  }

  dispose() {
    this.stop();
    this.bar.dispose();
  }

  /** @param {number} by so many steps, which ends playing */
  by(by) {
    this.stop();
    this.state.goto(this.state.step + by);
  }

  /** To the next step that is about another Func. @param {1 | -1} way */
  toOther(way) {
    const { steps, step } = this.state;
    const here = funcOf(steps[step]);
    let to = step + way;
    while (to > 0 && to < steps.length - 1 && funcOf(steps[to]) === here) to += way;
    this.by(to - step);
  }

  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    const { steps, step } = this.state;
    if (steps.length < 2) return;
    if (step === steps.length - 1) this.state.goto(0);
    this.#run();
  }

  #run() {
    this.timer = window.setInterval(() => {
      const { steps, step } = this.state;
      if (step >= steps.length - 1) this.stop();
      else this.state.goto(step + 1);
    }, STEP_MS / this.speed);
    this.bar.showPlaying(true);
  }

  /** @param {number} speed */
  #setSpeed(speed) {
    this.speed = speed;
    if (!this.timer) return;
    window.clearInterval(this.timer);
    this.#run();
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.bar.showPlaying(false);
  }

  render() {
    const { steps, step } = this.state;
    const last = Math.max(0, steps.length - 1);
    fill(this.bar.where, h("b", String(step)), `/${last}`);
    const text = steps[step]?.primitive || "no primitive";
    this.bar.below.textContent = text;
    this.bar.below.title = text;
    this.bar.showPlace(step, text);
    this.#draw();
  }

  /** What a step made of what is drawn: above 1 is better. @param {number} k */
  #ratio(k) {
    const { steps } = this.state;
    const value = VALUES[this.bar.height];
    const [before, now] = [value(steps[k - 1]), value(steps[k])];
    if (before === null || now === null) return 1;
    return before > 0 && now > 0 ? before / now : before === now ? 1 : before ? 64 : 1 / 64;
  }

  /** @param {number} k @returns {any[] | null} */
  #words(k) {
    const { steps } = this.state;
    const step = steps[k];
    if (!step) return null;
    if (!k) return [h("b", "No primitive"), h("div", "Loops as the algorithm has its axes")];
    const ratio = this.#ratio(k);
    const name = HEIGHTS.find(([id]) => id === this.bar.height)?.[1] ?? "";
    const guessed = this.bar.height !== "time" || step.predicted_us !== null;
    const what = !guessed
      ? NOT_GUESSED
      : ratio === 1
        ? `${name}: as before`
        : `${name}: ${timesText(Math.max(ratio, 1 / ratio))} ${ratio > 1 ? "better" : "worse"}`;
    const held = `${bytesText(step.meters.working_set_bytes)} held`;
    return [
      h("b", `${k}  ${step.primitive}`),
      h("div", step.refusal ? `left out: ${step.refusal}` : what),
      h("div.pl-dim", held),
    ];
  }

  #draw() {
    const { steps, step, theme } = this.state;
    const { canvas, hover } = this.bar;
    const [w, tall] = [canvas.clientWidth, canvas.clientHeight];
    if (!w || !theme) return;
    const c = this.bar.begin(theme, w, tall);
    const count = steps.length - 1;
    if (count > 0) {
      const ratios = steps.slice(1).map((_, at) => this.#ratio(at + 1));
      const most = Math.max(1, ...ratios.map((ratio) => Math.abs(Math.log2(ratio))));
      for (let k = 1; k <= count; k++) {
        c.globalAlpha = k <= step || k === hover ? 1 : AHEAD;
        this.#drawBar(c, theme, {
          k,
          x: ((k - 1) / count) * w,
          wide: w / count,
          tall,
          size: Math.log2(ratios[k - 1]) / most,
        });
      }
      c.globalAlpha = 1;
    }
    penOf(canvas, w, tall);
    drawCursor(
      c,
      Math.min(w - 1, Math.max(1, count > 0 ? (step / count) * w : 1)),
      tall,
      theme.primary,
    );
  }

  /**
   * Filled where it is better, hollow where it is worse, a cross where it was left out.
   * @param {CanvasRenderingContext2D} c @param {Theme} theme
   * @param {{k: number, x: number, wide: number, tall: number, size: number}} bar
   */
  #drawBar(c, theme, { k, x, wide, tall, size }) {
    const { steps, data } = this.state;
    const floor = tall - BASE;
    const width = Math.min(wide - 3, 72);
    const left = x + (wide - width) / 2;
    const func = funcOf(steps[k]);
    const place = data?.subject.funcs.findIndex(({ name }) => name === func) ?? -1;
    const colour = funcColour(theme, place).solid;
    if (steps[k].refusal) {
      c.strokeStyle = theme.remove;
      c.lineWidth = 1.5;
      const [mx, my] = [x + wide / 2, floor - 8];
      c.beginPath();
      c.moveTo(mx - 4, my - 4);
      c.lineTo(mx + 4, my + 4);
      c.moveTo(mx + 4, my - 4);
      c.lineTo(mx - 4, my + 4);
      c.stroke();
      return;
    }
    const high = Math.max(LOW, Math.abs(size) * (floor - TOP));
    c.fillStyle = c.strokeStyle = colour;
    c.lineWidth = 1.5;
    if (size >= 0) c.fillRect(left, floor - high, width, high);
    else c.strokeRect(left + 0.75, floor - high + 0.75, width - 1.5, Math.max(1, high - 1.5));
  }
}

/** Whose loops a step is about. @param {import("./types.js").StepView | undefined} step */
const funcOf = (step) => step?.primitive.split(".")[0] ?? "";
