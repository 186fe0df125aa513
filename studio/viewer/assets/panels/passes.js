// @ts-check
// The passes: switch them, see how often they fired, and why they did not.

import { DeclinedList } from "./declined.js";
import { button, fill, h, select, swatch } from "../page/dom.js";
import { Press } from "../page/press.js";
import { Comparison } from "../session/comparison.js";
import { counted } from "../page/numbers.js";
import { installLine } from "./install.js";
import { branchTree } from "./branches.js";
import { about, exactnessKey, exactnessSign, meaningOf, verdictLine } from "./parts.js";
import { PassOrder } from "./pass-order.js";
import { pipelineFile } from "./pipeline-file.js";
import { vetoList } from "./vetoes.js";
import { WhatIf } from "./what-if.js";

const TIP_DELAY_MS = 450;
const FOLDED_FROM = 14; // passes: in a longer list families in which none fired are folded

export class Passes {
  /** @param {Context} context @param {Tooltip} tip */
  constructor(context, tip) {
    this.context = context;
    this.tip = tip;
    this.state = context.state;
    this.actions = context.actions;
    this.el = h("div.pl-passes");
    /** @type {Set<string>} families folded away */ this.folded = new Set();
    this.firstFold = true;
    this.press = new Press(this.el, () => this.render());
    const redraw = () => this.render();
    this.whatIf = new WhatIf(context, redraw, () => this.declined.unmark());
    this.declined = new DeclinedList(context, this.el, redraw, () => this.whatIf.unmark());
    this.order = new PassOrder(context, redraw, (value) => this.#send(value));
    /** @type {Map<string, boolean>} asked for, not yet answered */ this.pending = new Map();
    /** @type {Map<string, HTMLElement>} */ this.rows = new Map();
    this.vetoesOpen = false;
    this.branchesOpen = false;
    this.pipelineText = "";
  }

  /** @returns {PassRecord[]} */
  get list() {
    return this.state.session?.trace?.passes ?? this.state.data?.passes ?? [];
  }

  render() {
    const { data, session: s } = this.state;
    if (!data || data.mode === "model" || this.press.holds()) return;
    const families = Map.groupBy(this.list, (p) => p.family);
    if (this.firstFold && s?.trace) {
      this.firstFold = false;
      if (this.list.length > FOLDED_FROM)
        for (const [family, list] of families)
          if (!list.some((p) => p.fired || p.failed)) this.folded.add(family);
    }
    this.rows.clear();
    this.declined.sync();
    const enabled = this.#enabled(data);
    const focus = /** @type {any} */ (this.el.getRootNode())?.activeElement?.dataset?.focus;
    const toggle = () => {
      this.vetoesOpen = !this.vetoesOpen;
      this.render();
    };
    const toggleBranches = () => {
      this.branchesOpen = !this.branchesOpen;
      this.render();
    };
    fill(
      this.el,
      this.#head(data),
      vetoList(this.context, { open: this.vetoesOpen, toggle }),
      branchTree(this.context, { open: this.branchesOpen, toggle: toggleBranches }),
      this.#asking(),
      this.order.on
        ? this.order.render(this.list)
        : [
            exactnessKey(this.list),
            ...[...families].flatMap(([name, list]) => this.#family(name, list, enabled)),
          ],
      !families.size && h("p.pl-empty", "The passes of the pipeline will be listed here."),
      verdictLine(data.verified, true),
    );
    this.el.classList.toggle("pl-asking", this.whatIf.on);
    if (focus) this.el.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
    this.mark();
  }

  /** Passes that are on, or will be once the server has answered. @param {Descriptor} data */
  #enabled({ pipeline }) {
    const text = JSON.stringify(pipeline ?? null);
    if (text !== this.pipelineText) this.pending.clear();
    this.pipelineText = text;
    const known = pipeline?.enabled ?? this.list.filter((p) => p.enabled).map((p) => p.id);
    const enabled = new Set(known);
    for (const [id, want] of this.pending)
      if (want) enabled.add(id);
      else enabled.delete(id);
    return enabled;
  }

  /** @param {Descriptor} data */
  #head({ pipeline, versus }) {
    const { presets = [], preset = "" } = pipeline ?? {};
    const names = !pipeline || presets.includes(preset) ? presets : [preset, ...presets];
    const choices = [["", "nothing"], ...presets.map((p) => [p, p])];
    if (versus && !choices.some(([value]) => value === versus.id))
      choices.push([versus.id, versus.name]);
    choices.push(["now", "the passes as they are now"]);
    return h(
      "header",
      h("h2", "Pipeline"),
      select(
        "Preset",
        names.map((p) => [p, p]),
        preset,
        (chosen) => this.#send({ preset: chosen }),
      ),
      button("Back to the preset", "↺", () => this.#send({ reset: true }), "pl-icon"),
      h(
        "label.pl-versus",
        { title: "See what another pipeline makes of the same network, beside this one" },
        "Compare with",
        select(
          "Compare with pipeline",
          choices,
          versus?.id ?? "",
          (chosen) => this.#send({ versus: chosen }),
          { "data-focus": "versus" },
        ),
      ),
    );
  }

  /** What the pipeline would do now, and the pipeline as a file. */
  #asking() {
    const [toggle, line] = this.whatIf.head();
    const files = pipelineFile(this.context, () => this.render());
    const order = this.order.toggle();
    return (toggle || files) && h("section.pl-whatif", h("div", order, files, toggle), line);
  }

  /**
   * @param {string} name @param {PassRecord[]} list @param {Set<string>} enabled
   * @returns {Node[]}
   */
  #family(name, list, enabled) {
    const fired = list.reduce((sum, p) => sum + (p.fired ?? 0), 0);
    const on = list.filter((p) => enabled.has(p.id)).length;
    const shut = this.folded.has(name);
    const toggle = (/** @type {Event & {target: HTMLInputElement}} */ { target }) => {
      for (const p of list) this.pending.set(p.id, target.checked);
      this.#send({ family: [name, target.checked] });
      this.render();
    };
    const fold = () => {
      if (!this.folded.delete(name)) this.folded.add(name);
      this.render();
    };
    const label = `All passes of family ${name}`;
    const focus = { "aria-label": label, "data-focus": `f:${name}` };
    const box = h("input", { type: "checkbox", ...focus, onchange: toggle });
    box.checked = on > 0;
    box.indeterminate = on > 0 && on < list.length;
    const head = h(
      "div.pl-family",
      h(
        "button.pl-fam",
        { "aria-expanded": !shut, "data-focus": `t:${name}`, onclick: fold },
        h("span.pl-tri", shut ? "▸" : "▾"),
        swatch(this.state.theme?.family(name)),
        name.charAt(0).toUpperCase() + name.slice(1),
      ),
      h("span.pl-num", this.state.session?.trace && (fired ? String(fired) : "–")),
      this.whatIf.sum(list),
      box,
    );
    if (shut) return [head];
    return [
      head,
      h(
        "ul",
        list.map((p) => this.#row(p, enabled.has(p.id))),
      ),
      installLine(list) ?? [],
    ].flat();
  }

  /** @param {PassRecord} p @param {boolean} on */
  #row(p, on) {
    const toggle = (/** @type {Event & {target: HTMLInputElement}} */ { target }) => {
      this.pending.set(p.id, target.checked);
      row.classList.add("pl-pending");
      this.#send({ toggle: [p.id, target.checked] });
    };
    const focus = { "data-pass": p.id, "data-focus": `p:${p.id}` };
    const box = h("input", { type: "checkbox", ...focus, onchange: toggle });
    box.checked = on;
    box.disabled = Boolean(p.missing) && !on;
    const label = h("label", { title: p.missing ?? null }, box, h("span.pl-name", p.title));
    const row = h(
      `li.pl-pass${on ? "" : ".pl-off"}${p.fired ? "" : ".pl-idle"}${p.missing ? ".pl-missing" : ""}`,
      label,
      h("span.pl-dot", { title: "owns the current step" }),
      exactnessSign(p.exactness),
      this.#count(p, on),
      this.whatIf.cell(p),
      this.whatIf.places(p),
      (p.declined || p.failed) && this.declined.render(p),
    );
    label.addEventListener("pointerenter", (/** @type {PointerEvent} */ e) =>
      this.tip.show(about(p, meaningOf(p.exactness)), e, {
        delay: TIP_DELAY_MS,
        around: row.getBoundingClientRect(),
        side: "right",
      }),
    );
    label.addEventListener("pointerleave", () => this.tip.hide());
    if (this.pending.has(p.id)) row.classList.add("pl-pending");
    this.rows.set(p.id, row);
    return row;
  }

  /** How often it fired, and a way to the first time. @param {PassRecord} p @param {boolean} on */
  #count(p, on) {
    const { session: s } = this.state;
    const first = (s?.steps ?? []).findIndex((step) => this.list[step.pass]?.id === p.id) + 1;
    if (!p.fired || !first)
      return h("span.pl-count", s?.trace && (on || p.fired) ? String(p.fired ?? 0) : "");
    const where =
      s instanceof Comparison
        ? `go to the first that differs, ${first} of ${s.steps.length}`
        : `go to the first, step ${first}`;
    const label = `${counted(p.fired, "rewrite")}: ${where}`;
    return button(label, String(p.fired), () => this.actions.goto(first), "pl-count");
  }

  /** The dot beside the pass that owns the current step. */
  mark() {
    const s = this.state.session;
    const id = s?.current ? this.list[s.current.pass]?.id : undefined;
    for (const [pass, row] of this.rows) row.classList.toggle("pl-current", pass === id);
  }

  /** @param {any} value */
  #send(value) {
    this.actions.send("pipeline", value);
  }
}
