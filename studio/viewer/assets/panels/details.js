// @ts-check
// What a node is: operator, attributes, inputs and outputs, neighbours, and its life in the trace.

import { fill, h, section, swatch, table } from "../page/dom.js";
import { Press } from "../page/press.js";
import { OVERLAYS } from "../overlays/registry.js";
import { askedSection, historySection } from "./node-history.js";
import { chips, clearButton, nodeChip } from "./parts.js";
import { StepSection } from "./step-section.js";

const NEIGHBOURS = 24; // shown; more are counted
const SOURCES = 8; // of a node: as many as studio/schedule/link.py takes
const GENERATED = "passlens.generated"; // as optimizer/operators/generated.py has it

export class Details {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.state = context.state;
    this.steps = new StepSection(context, "Steps that touch it");
    this.el = h("section.pl-details", { "aria-label": "Selected node" });
    this.press = new Press(this.el, () => this.render());
  }

  render() {
    if (this.press.holds()) return;
    const { session: s, selection, data } = this.state;
    const o = selection?.node;
    const asks = data?.mode === "model" && !selection;
    this.el.hidden = !asks && o === undefined;
    if (s && o !== undefined) fill(this.el, this.#about(s, o));
    else
      fill(
        this.el,
        asks &&
          h(
            "p.pl-empty",
            "Click a node to see its attributes, tensors and neighbours, the title of a group to see what is in it. Press / to find one, ? for all keys.",
          ),
      );
  }

  /** @param {Session} s @param {number} o */
  #about(s, o) {
    this.steps.render();
    const rec = s.history.record(o, s.present(o));
    const io = rec.cat === "io";
    return [
      h(
        "header",
        swatch(this.state.theme?.category(rec.cat).solid),
        h("h2", io ? rec.name : rec.op),
        rec.brief && h("span.pl-dim", rec.brief),
        clearButton(this.context),
      ),
      h("p.pl-path", io ? "Graph input or output" : rec.name || "(no name)"),
      rec.domain && h("p.pl-dim", `domain ${rec.domain}`),
      !io && this.#loops(s, o),
      historySection(this.context, s, o),
      this.steps.el,
      askedSection(this.context, s, o),
      ...OVERLAYS.map(({ id, heading }) =>
        told(heading, this.state.overlays.get(id)?.rows(rec.id, s) ?? []),
      ),
      values("Attributes", rec.attrs ?? []),
      tensors("Inputs", rec.in ?? []),
      tensors("Outputs", rec.out ?? []),
      this.#neighbours("Comes from", s, s.neighbours(o, false)),
      this.#neighbours("Goes to", s, s.neighbours(o, true)),
      h("p.pl-dim.pl-id", `id ${rec.id}`),
    ];
  }

  /** The way to the loops of a generated kernel, or of the region that a node is in.
   * @param {Session} s @param {number} o */
  #loops(s, o) {
    if (this.state.data?.mode !== "rewrite") return null;
    const { outbox } = this.context.actions;
    const { domain, op } = s.union.recs[o];
    if (domain === GENERATED)
      return leads("Open its loops in Schedule", () => outbox.post("loops", op));
    const nodes = sourcesOf(s, o);
    if (!nodes.length) return null;
    const button = leads("Schedule", () => outbox.post("region", nodes.slice(0, SOURCES)));
    button.title = "The loops of the region that it is in, on the page Schedule";
    return button;
  }

  /** @param {string} title @param {Session} s @param {number[]} nodes */
  #neighbours(title, s, nodes) {
    const ids = nodes.map((o) => s.union.recs[o].id);
    const chip = (/** @type {string} */ id) => nodeChip(this.context, id);
    return ids.length > 0 && section(title, chips(ids, NEIGHBOURS, chip));
  }
}

/** @param {string} text @param {() => void} onclick */
const leads = (text, onclick) => h("p.pl-actions", h("button", { onclick }, text));

/** The source nodes whose work it does, itself if it is one. @param {Session} s @param {number} o */
function sourcesOf(s, o) {
  const { id } = s.union.recs[o];
  if (o < s.union.sources) return [id];
  const life = s.histories.find(({ provenance }) => provenance.born.has(id));
  return life ? life.provenance.origins(id) : [];
}

/** @param {string} title @param {[string, string][]} rows */
const values = (title, rows) => rows.length > 0 && section(title, table(rows));

/** The same in words. @param {string} title @param {[string, string][]} rows */
const told = (title, rows) => rows.length > 0 && section(title, h("div.pl-told", table(rows)));

/** @param {string} title @param {string[][]} list */
const tensors = (title, list) =>
  list.length > 0 && section(title, h("ul.pl-tensors", list.map(tensor)));

/** @param {string[]} tensor */
const tensor = ([formal, name, dtype, shape, kind]) =>
  h(
    "li",
    h("span.pl-formal", formal),
    h("span.pl-type", `${dtype ?? ""} ${shape ?? ""}`.trim() || "–"),
    kind && h("span.pl-kind", kind),
    h("span.pl-path", { title: name }, name),
  );
