// @ts-check
// What a node is: operator, attributes, inputs and outputs, neighbours, and its life in the trace.

import { button, fill, h } from "../page/dom.js";
import { OVERLAYS } from "../overlays/registry.js";
import { historySection } from "./node-history.js";
import { askedSection } from "./passes-asked.js";
import { StepSection } from "./step-section.js";

export class Details {
  /** @param {import("../app/actions.js").Context} context */
  constructor(context) {
    this.context = context;
    this.state = context.state;
    this.actions = context.actions;
    this.steps = new StepSection(context, "Steps that touch it");
    this.el = h("section.pl-details", { "aria-label": "Selected node" });
  }

  render() {
    const { session: s, selected } = this.state;
    const o = s && selected !== null ? s.union.index.get(selected) : undefined;
    this.el.hidden = false;
    if (!s || o === undefined) {
      const asks = this.state.data?.mode === "model" && !this.state.selection;
      fill(
        this.el,
        asks &&
          h(
            "p.pl-empty",
            "Click a node to see its attributes, tensors and neighbours, the title of a group to see what is in it. Press / to find one, ? for all keys.",
          ),
      );
      this.el.hidden = !asks;
      return;
    }
    this.steps.render();
    const rec = s.history.record(o, s.present(o));
    const swatch = h("i.pl-swatch");
    swatch.style.background = this.state.theme?.category(rec.cat).solid ?? "";
    fill(
      this.el,
      h(
        "header",
        swatch,
        h("h2", rec.cat === "io" ? rec.name : rec.op),
        rec.brief && h("span.pl-dim", rec.brief),
        button("Clear the selection (esc)", "×", () => this.actions.select(null), "pl-x"),
      ),
      h("p.pl-path", rec.cat === "io" ? "Graph input or output" : rec.name || "(no name)"),
      rec.domain && h("p.pl-dim", `domain ${rec.domain}`),
      historySection(this.context, s, o, (other) => this.#chip(s, other)),
      this.steps.el,
      askedSection(this.context, s, o, (other) => this.#chip(s, other)),
      OVERLAYS.map((kind) => this.#numbers(kind, rec.id)),
      this.#attributes(rec),
      this.#tensors("Inputs", rec.in ?? []),
      this.#tensors("Outputs", rec.out ?? []),
      this.#neighbours(s, o, false),
      this.#neighbours(s, o, true),
      h("p.pl-dim.pl-id", `id ${rec.id}`),
    );
  }

  /** @param {import("../overlays/overlay.js").OverlayKind} kind @param {string} id of the node */
  #numbers(kind, id) {
    const rows = this.state.overlays.get(kind.id)?.rows(id) ?? [];
    if (!rows.length) return null;
    const cells = rows.map(([which, text]) =>
      h("tr", h("th", { scope: "row" }, which), h("td", text)),
    );
    return h("section", h("h3", kind.heading), h("table", h("tbody", cells)));
  }

  /** @param {import("../types.js").NodeRecord} rec */
  #attributes(rec) {
    if (!rec.attrs?.length) return null;
    return h(
      "section",
      h("h3", "Attributes"),
      h(
        "table",
        h(
          "tbody",
          rec.attrs.map(([k, v]) => h("tr", h("th", { scope: "row" }, k), h("td", v))),
        ),
      ),
    );
  }

  /** @param {string} title @param {string[][]} list */
  #tensors(title, list) {
    if (!list.length) return null;
    return h(
      "section",
      h("h3", title),
      h(
        "ul.pl-tensors",
        list.map(([formal, name, dtype, shape, kind]) =>
          h(
            "li",
            h("span.pl-formal", formal),
            h("span.pl-type", `${dtype ?? ""} ${shape ?? ""}`.trim() || "–"),
            kind && h("span.pl-kind", kind),
            h("span.pl-path", { title: name }, name),
          ),
        ),
      ),
    );
  }

  /** @param {import("../session/session.js").Session} s @param {number} o @param {boolean} down */
  #neighbours(s, o, down) {
    const cursor = s.afterCursor.alive[o] ? s.afterCursor : s.beforeCursor;
    const found = new Set();
    for (let e = 0; e < s.union.from.length; e++) {
      if (cursor.edgeAlive[e] && (down ? s.union.from[e] : s.union.to[e]) === o)
        found.add(down ? s.union.to[e] : s.union.from[e]);
    }
    if (!found.size) return null;
    const all = [...found];
    return h(
      "section",
      h("h3", down ? "Goes to" : "Comes from"),
      h(
        "div.pl-chips",
        all.slice(0, 24).map((n) => this.#chip(s, n)),
        all.length > 24 && h("span.pl-dim", `and ${all.length - 24} more`),
      ),
    );
  }

  /** @param {import("../session/session.js").Session} s @param {number} o */
  #chip(s, o) {
    const rec = s.union.recs[o];
    const el = h(
      "button.pl-chip",
      { title: rec.name, onclick: () => this.actions.select(rec.id, { reveal: true }) },
      rec.op,
    );
    el.style.borderLeftColor = this.state.theme?.category(rec.cat).solid ?? "";
    return el;
  }
}
