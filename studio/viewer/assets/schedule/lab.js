// @ts-check
// The page Schedule in one piece: algorithm and primitives, nest, meters, slider.

import { h } from "../page/dom.js";
import { applyColours, readTheme } from "../page/theme.js";
import { Tooltip } from "../panels/tooltip.js";
import { AddForm } from "./add-form.js";
import { AlgorithmView } from "./algorithm.js";
import { Head } from "./head.js";
import { LabKeys } from "./lab-keys.js";
import { LabState } from "./lab-state.js";
import { answerForSchedules } from "./link.js";
import { MeasuredView } from "./measured.js";
import { MetersView } from "./meters.js";
import { NestView } from "./nest.js";
import { PrimitiveList } from "./primitives.js";
import { Slider } from "./slider.js";
import { WarningsView } from "./warnings.js";

const LEAST_H = 560;
const BELOW = 56; // of the window, for the head of what comes next

export class Lab {
  /** @param {any} parent */
  constructor(parent) {
    this.parent = parent;
    this.state = new LabState();
    const { state } = this;
    this.tip = new Tooltip();
    this.head = new Head(state);
    this.list = new PrimitiveList(state);
    this.form = new AddForm(state);
    this.nest = new NestView(state);
    this.measured = new MeasuredView(state);
    this.slider = new Slider(state, this.tip);
    this.said = h("div.pl-hidden", { role: "status", "aria-live": "polite" });
    const left = h("div.sl-left", new AlgorithmView(state).el, this.list.el, this.form.el);
    const right = h(
      "div.sl-right",
      this.measured.el,
      new MetersView(state).el,
      new WarningsView(state).el,
    );
    this.root = h(
      "div.pl-root.sl-root",
      { tabindex: -1 },
      this.head.el,
      h("div.sl-body", left, this.nest.el, right),
      this.slider.el,
      this.said,
      this.tip.el,
    );
    this.keys = new LabKeys(this.root, this.#acts());
    this.endLinks = answerForSchedules(state);
    state.watch(["said"], () => {
      this.said.textContent = state.said;
    });
    state.watch(["theme"], () => state.theme && applyColours(this.root, state.theme));
    state.watch(["step", "data"], () => this.#report());
    this.onResize = () => this.#fillWindow();
    window.addEventListener("resize", this.onResize);
    parent.querySelector("[data-passlens-schedule]").append(this.root);
  }

  /** @returns {Record<string, () => void>} */
  #acts() {
    const { state, slider } = this;
    return {
      ArrowLeft: () => slider.by(-1),
      ArrowRight: () => slider.by(1),
      Home: () => slider.by(-Infinity),
      End: () => slider.by(Infinity),
      "[": () => slider.toOther(-1),
      "]": () => slider.toOther(1),
      " ": () => slider.toggle(),
      a: () => this.form.focus(),
      p: () => this.list.focus(Math.max(0, state.applied[state.step - 1] ?? 0)),
      t: () => this.measured.measure(),
      "ctrl+z": () => state.post("undo", null),
      "ctrl+shift+z": () => state.post("redo", null),
      "ctrl+y": () => state.post("redo", null),
    };
  }

  /** @param {import("./types.js").LabComponent} component */
  update(component) {
    this.#fillWindow();
    this.state.take(component, readTheme(this.root));
  }

  #fillWindow() {
    const top = this.root.getBoundingClientRect().top + window.scrollY;
    const height = Math.max(LEAST_H, window.innerHeight - Math.max(0, top) - BELOW);
    this.root.style.height = `${Math.floor(height)}px`;
  }

  /** For tests, and for whoever debugs: what is shown. */
  #report() {
    const { state } = this;
    const { data, step, steps, waiting, draft } = state;
    const lab = {
      step,
      steps: steps.length - 1,
      waiting,
      primitives: draft.texts,
      subject: data?.subject.id,
    };
    Object.assign(window, {
      __passlens_schedule: { ...lab, times: data?.times ?? [], seq: state.seq },
    });
  }

  dispose() {
    window.removeEventListener("resize", this.onResize);
    this.slider.dispose();
    this.nest.dispose();
    this.keys.dispose();
    this.endLinks();
    this.state.outbox.stop();
    this.root.remove();
  }
}
