// @ts-check
// The passes: switch them, see how often they fired, and why they did not.

import { DeclinedList } from "./declined.js";
import { button, fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { about, exactnessKey, exactnessSign, meaningOf } from "./pass-info.js";
import { verdictLine } from "./verdict.js";
import { vetoList } from "./vetoes.js";

const TIP_DELAY_MS = 450;

export class Passes {
  /** @param {import("../app/actions.js").Context} context @param {import("./tooltip.js").Tooltip} tip */
  constructor(context, tip) {
    this.context = context;
    this.tip = tip;
    this.state = context.state;
    this.actions = context.actions;
    this.el = h("div.pl-passes");
    /** @type {Set<string>} families folded away */ this.folded = new Set();
    this.firstFold = true;
    this.declined = new DeclinedList(context, this.el, () => this.render());
    /** @type {Map<string, boolean>} asked for, not yet answered */ this.pending = new Map();
    /** @type {Map<string, HTMLElement>} */ this.rows = new Map();
    this.vetoesOpen = false;
    this.pipelineText = "";
  }

  /** @returns {import("../types.js").PassRecord[]} */
  get list() {
    return this.state.session?.trace?.passes ?? this.state.data?.passes ?? [];
  }

  render() {
    const { data } = this.state;
    if (!data || data.mode === "model") return;
    const text = JSON.stringify(data.pipeline ?? null);
    if (text !== this.pipelineText) {
      this.pipelineText = text;
      this.pending.clear();
    }
    const enabled = new Set(
      data.pipeline?.enabled ?? this.list.filter((p) => p.enabled).map((p) => p.id),
    );
    for (const [id, want] of this.pending)
      if (want) enabled.add(id);
      else enabled.delete(id);
    /** @type {Map<string, import("../types.js").PassRecord[]>} */
    const families = new Map();
    for (const p of this.list) {
      const f = families.get(p.family);
      if (f) f.push(p);
      else families.set(p.family, [p]);
    }
    if (this.firstFold && this.state.session?.trace) {
      this.firstFold = false;
      if (this.list.length > 14)
        for (const [f, ps] of families)
          if (!ps.some((p) => p.fired || p.failed)) this.folded.add(f);
    }
    this.rows.clear();
    this.declined.sync();
    const focus = /** @type {any} */ (this.el.getRootNode())?.activeElement?.dataset?.focus;
    fill(
      this.el,
      this.#head(),
      vetoList(this.context, (id) => this.#nodeName(id), {
        open: this.vetoesOpen,
        toggle: () => {
          this.vetoesOpen = !this.vetoesOpen;
          this.render();
        },
      }),
      exactnessKey(this.list),
      [...families].flatMap(([name, list]) => this.#family(name, list, enabled)),
    );
    if (!families.size)
      this.el.append(h("p.pl-empty", "The passes of the pipeline will be listed here."));
    const verdict = verdictLine(data.verified, true);
    if (verdict) this.el.append(verdict);
    if (focus) this.el.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
    this.mark();
  }

  #head() {
    const pipeline = this.state.data?.pipeline;
    const select = h(
      "select",
      {
        "aria-label": "Preset",
        onchange: (/** @type {Event} */ e) =>
          this.#send({ preset: /** @type {HTMLSelectElement} */ (e.target).value }),
      },
      (pipeline?.presets ?? []).map((p) =>
        h("option", { value: p, selected: p === pipeline?.preset }, p),
      ),
    );
    if (pipeline && !pipeline.presets.includes(pipeline.preset))
      select.prepend(h("option", { value: pipeline.preset, selected: true }, pipeline.preset));
    return h(
      "header",
      h("h2", "Pipeline"),
      select,
      button("Back to the preset", "↺", () => this.#send({ reset: true }), "pl-icon"),
      this.#versus(),
    );
  }

  /** Another pipeline beside this one. */
  #versus() {
    const { pipeline, versus } = this.state.data ?? {};
    const options = [["", "nothing"], ...(pipeline?.presets ?? []).map((p) => [p, p])];
    if (versus && !options.some(([value]) => value === versus.id))
      options.push([versus.id, versus.name]);
    options.push(["now", "the passes as they are now"]);
    const chosen = versus?.id ?? "";
    return h(
      "label.pl-versus",
      { title: "See what another pipeline makes of the same network, beside this one" },
      "Compare with",
      h(
        "select",
        {
          "aria-label": "Compare with pipeline",
          "data-focus": "versus",
          onchange: (/** @type {any} */ e) => this.#send({ versus: e.target.value }),
        },
        options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
      ),
    );
  }

  /**
   * @param {string} name
   * @param {import("../types.js").PassRecord[]} list
   * @param {Set<string>} enabled
   * @returns {Node[]}
   */
  #family(name, list, enabled) {
    const fired = list.reduce((sum, p) => sum + (p.fired ?? 0), 0);
    const on = list.filter((p) => enabled.has(p.id)).length;
    const shut = this.folded.has(name);
    const box = h("input", {
      type: "checkbox",
      "aria-label": `All passes of family ${name}`,
      "data-focus": `f:${name}`,
      onchange: (/** @type {any} */ e) => {
        for (const p of list) this.pending.set(p.id, e.target.checked);
        this.#send({ family: [name, e.target.checked] });
        this.render();
      },
    });
    box.checked = on > 0;
    box.indeterminate = on > 0 && on < list.length;
    const swatch = h("i.pl-swatch");
    swatch.style.background = this.state.theme?.family(name) ?? "";
    const title = h(
      "button.pl-fam",
      {
        "aria-expanded": !shut,
        "data-focus": `t:${name}`,
        onclick: () => {
          if (shut) this.folded.delete(name);
          else this.folded.add(name);
          this.render();
        },
      },
      h("span.pl-tri", shut ? "▸" : "▾"),
      swatch,
      name.charAt(0).toUpperCase() + name.slice(1),
    );
    const head = h(
      "div.pl-family",
      title,
      h("span.pl-num", this.state.session?.trace ? (fired ? String(fired) : "–") : ""),
      box,
    );
    return shut
      ? [head]
      : [
          head,
          h(
            "ul",
            list.map((p) => this.#row(p, enabled.has(p.id))),
          ),
        ];
  }

  /** @param {import("../types.js").PassRecord} p @param {boolean} on */
  #row(p, on) {
    const known = this.state.session?.trace !== null && this.state.session?.trace !== undefined;
    const box = h("input", {
      type: "checkbox",
      "data-pass": p.id,
      "data-focus": `p:${p.id}`,
      onchange: (/** @type {any} */ e) => {
        this.pending.set(p.id, e.target.checked);
        row.classList.add("pl-pending");
        this.#send({ toggle: [p.id, e.target.checked] });
      },
    });
    box.checked = on;
    const first =
      (this.state.session?.steps ?? []).findIndex((s) => this.list[s.pass]?.id === p.id) + 1;
    const count =
      p.fired && first
        ? button(
            `${counted(p.fired, "rewrite")}: go to the first, step ${first}`,
            String(p.fired),
            () => this.actions.goto(first),
            "pl-count",
          )
        : h("span.pl-count", known && (on || p.fired) ? String(p.fired ?? 0) : "");
    const label = h("label", box, h("span.pl-name", p.title));
    const row = h(
      `li.pl-pass${on ? "" : ".pl-off"}${p.fired ? "" : ".pl-idle"}`,
      label,
      h("span.pl-dot", { title: "owns the current step" }),
      exactnessSign(p.exactness),
      count,
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
    if (p.declined || p.failed) row.append(this.declined.render(p));
    return row;
  }

  /** @param {string} id */
  #nodeName(id) {
    const s = this.state.session;
    const o = s?.union.index.get(id);
    if (!s || o === undefined) return id;
    const rec = s.union.recs[o];
    return `${rec.op} ${rec.name.split("/").filter(Boolean).slice(-2).join("/")}`;
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
