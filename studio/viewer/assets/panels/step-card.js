// @ts-check
// The step card: which rewrite this is, what it did, and why it is safe.

import { FLOP, amount, counted, noun, savings, signed } from "../page/numbers.js";
import { Comparison } from "../session/comparison.js";
import { comparisonCard } from "./comparison-card.js";
import { button, fill, h, prose, swatch, table } from "../page/dom.js";
import { copyText, permalink } from "../page/link.js";
import { Press } from "../page/press.js";
import { exactnessSign, factsLine, stepLink, verdictLine } from "./parts.js";
import { dependants } from "../trace/dependants.js";
import { drawMini, weightsPicture } from "./step-picture.js";
import { vetoCard } from "./vetoes.js";

const BUILDING = 6; // later steps that are named

export class Card {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.state = context.state;
    this.actions = context.actions;
    this.el = h("section.pl-card", { "aria-label": "This step" });
    this.press = new Press(this.el, () => this.render());
  }

  render() {
    if (this.press.holds()) return;
    const { session: s, data } = this.state;
    if (s && data?.mode !== "model") fill(this.el, this.#content(s));
  }

  /** @param {Session} s */
  #content(s) {
    const { data, vetoed, stepped } = this.state;
    const step = stepped ? s.current : null;
    if (!s.trace) return waiting(data);
    if (vetoed) return vetoCard(this.context, vetoed);
    if (s instanceof Comparison && !step) return comparisonCard(this.context, s);
    if (!s.steps.length && !data?.pipeline?.enabled.length)
      return told(
        "No pass is on",
        "So both panes show the source. Choose a preset at the left, or switch passes on: every rewrite they make will be one step here.",
      );
    if (!s.steps.length)
      return told(
        "Nothing to rewrite",
        "No enabled pass found a place where it applies. Near misses are listed under each pass as declined.",
      );
    return step ? this.#step(s, step) : this.#overview(s);
  }

  /** @param {Session} s @param {StepRecord} step */
  #step(s, step) {
    const side = s instanceof Comparison ? s.sides[s.sideOf(step)] : null;
    const pass = s.trace?.passes[step.pass];
    const where = side
      ? `Only with ${side.name} · its step ${step.own}`
      : `Step ${step.n} of ${s.steps.length}`;
    const below = step.depends?.slice(-BUILDING) ?? [];
    return [
      h("p.pl-dim", where, step.round > 1 && ` · round ${step.round}`),
      side &&
        button("List all rewrites that differ", "All that differs", () => this.#all(), "pl-link"),
      h("header", swatch(this.state.theme?.family(pass?.family ?? "")), h("h2", s.titleOf(step))),
      ruleLine(step, pass),
      step.weights ? weightsPicture(step.weights) : this.#mini(),
      factsLine(facts(step)),
      ...[
        ["Why here", step.why],
        ["When it is safe", pass?.safe],
        ["Numerics", pass?.numerics],
      ].map(([title, text]) => text && h("div", h("h3", title), h("p", prose(text)))),
      inferredLine(step),
      below.length > 0 && h("p.pl-dim.pl-cost", "Builds on ", this.#links(s, step, below), "."),
      !side && this.#building(s, step),
      this.#buttons(s, step),
      verdictLine(this.state.data?.verified),
      pass?.source && h("details", h("summary", "Source"), h("p.pl-source", pass.source)),
    ];
  }

  /** What a veto may take away with it, said before it is done. @param {Session} s @param {StepRecord} step */
  #building(s, step) {
    const later = dependants(s.steps, step.n);
    if (!later.length) return h("p.pl-dim.pl-cost", "No later step builds on it.");
    const [build, them] = later.length > 1 ? ["build", "them"] : ["builds", "it"];
    const more = later.length - BUILDING;
    return h(
      "p.pl-dim.pl-cost",
      `${counted(later.length, "later step")} ${build} on it: `,
      this.#links(s, step, later.slice(0, BUILDING)),
      more > 0 && ` and ${more} more`,
      `. A veto may cost ${them}.`,
    );
  }

  /** @param {Session} s @param {StepRecord} step @param {number[]} others steps of its pipeline */
  #links(s, step, others) {
    return others.flatMap((n, at) => [
      at > 0 && ", ",
      stepLink(this.context, n, s.targetOf(step, n)),
    ]);
  }

  /** @param {Session} s @param {StepRecord} step */
  #buttons(s, step) {
    // The other pipeline takes no vetoes.
    const other = s instanceof Comparison && s.sideOf(step) > 0;
    return h(
      "div.pl-actions",
      !other && button("Do not make this rewrite", "Veto", () => this.actions.vetoing.ask(step)),
      button("Show the place in the graph (g)", "Show", () => this.#show(step)),
      button("Copy the match id", "Copy id", (e) => copy(step.match, e)),
      button("Copy a link to this step", "Copy link", (e) => copy(permalink(this.state), e)),
    );
  }

  /** @param {Session} s */
  #overview(s) {
    const passes = new Set(s.steps.map((x) => x.pass)).size;
    const failed = failures(s, false);
    const foreign = failures(s, true);
    return [
      h(
        "p.pl-dim",
        `${counted(s.steps.length, "rewrite")} by ${counted(passes, "pass", "passes")}`,
      ),
      h("h2", s.graph.name),
      failed > 0 &&
        h(
          "p.pl-failed",
          `${counted(failed, "rule")} failed and had no further say: a bug, told in the list of passes.`,
        ),
      foreign > 0 &&
        h(
          "p.pl-failed",
          `${counted(foreign, "step")} of imported passes failed and left no trace in the model: told in the list of passes.`,
        ),
      h(
        "p.pl-lead",
        "Before: the network as it was loaded. After: as the passes leave it. Step through the rewrites between the two.",
      ),
      h(
        "div.pl-actions",
        button("First rewrite", "First rewrite →", () => this.actions.goto(1), "pl-first"),
        button("Play all rewrites (space)", "Play", () => this.actions.playback.toggle()),
      ),
      h(
        "p.pl-dim.pl-hint",
        "Keys → and ← step, space plays, ? shows all. Or drag along the strip below.",
      ),
      totals(s.trace?.totals ?? {}),
      verdictLine(this.state.data?.verified),
    ];
  }

  #all() {
    this.actions.goto(0);
    this.state.changed("focus"); // this button goes away
  }

  #mini() {
    const canvas = h("canvas.pl-mini", {
      role: "img",
      "aria-label": "What was matched and what replaced it",
    });
    requestAnimationFrame(() => {
      const { session, theme } = this.state;
      if (canvas.isConnected && session && theme) drawMini(canvas, session, theme);
    });
    return canvas;
  }

  /** @param {StepRecord} step */
  #show(step) {
    this.actions.reveal(step.added[0] ?? step.root);
    this.actions.showChange();
  }
}

/** What a step changed: an amount, and of what. @param {StepRecord} step */
function facts({ delta = {}, weights }) {
  const { nodes, ...work } = delta;
  const list = savings([work]);
  if (nodes !== undefined && !weights) list.unshift([signed(nodes, ""), noun(nodes, "node")]);
  return list;
}

/** What went wrong, in rules of ours or in other projects' optimizers. @param {Session} s @param {boolean} foreign */
const failures = (s, foreign) =>
  (s.trace?.passes ?? [])
    .filter((p) => (p.family === "imported") === foreign)
    .reduce((n, p) => n + (p.failed ?? 0), 0);

/** That provenance is a guess, and how good it is. @param {StepRecord} step */
const inferredLine = ({ confidence }) =>
  confidence !== undefined &&
  h(
    "p.pl-dim",
    `Provenance inferred from names and structure, confidence ${Math.round(100 * confidence)} %: the tool tells nothing of single rewrites.`,
  );

/** Before and after all steps. @param {NonNullable<StepsJson["totals"]>} t */
function totals(t) {
  const rows = /** @type {[any, number[] | undefined, string][]} */ ([
    ["Nodes", t.nodes, ""],
    [h("th", { scope: "row", title: FLOP }, "FLOP"), t.flops, "FLOP"],
    ["Bytes moved", t.bytes, "B"],
  ]).flatMap(([name, v, unit]) =>
    v?.[0] ? [[name, amount(v[0], unit), amount(v[1], unit), percent(v)]] : [],
  );
  return table(rows, ["", "before", "after", ""]);
}

/** The rule, and how exact its pass is. @param {StepRecord} step @param {PassRecord} [pass] */
const ruleLine = ({ rule }, pass) =>
  h(
    "p.pl-rule",
    rule,
    " ",
    pass && [exactnessSign(pass.exactness), h("span.pl-dim", ` ${pass.exactness}`)],
  );

/** @param {string} title @param {string} text */
const told = (title, text) => [h("h2", title), h("p.pl-empty", text)];

/** Before there is a trace: it is being made, or cannot be, or nothing is to be made. @param {Descriptor | null} data */
function waiting(data) {
  const busy = data?.busy;
  if (data?.message?.kind === "error" && !busy)
    return told(
      "Nothing was rewritten",
      "The message over the graph says why. Other passes or a preset, chosen at the left, start anew.",
    );
  if (busy)
    return told(
      busy.text.split(":")[0],
      "Every rewrite will be one step here, as soon as all are found.",
    );
  return told(
    "No rewrites yet",
    "Switch passes on at the left; every rewrite they make will be one step here.",
  );
}

/** @param {string} text @param {Event} event */
async function copy(text, event) {
  const el = /** @type {HTMLElement} */ (event.currentTarget);
  el.dataset.label ??= el.textContent ?? "";
  const { label } = el.dataset;
  el.textContent = (await copyText(text, el)) ? "Copied" : "Not allowed";
  window.setTimeout(() => {
    el.textContent = label;
  }, 1200);
}

/** @param {number[]} v */
function percent(v) {
  const p = (v[1] / v[0] - 1) * 100;
  return Math.abs(p) < 0.05
    ? ""
    : `${p < 0 ? "−" : "+"}${Math.abs(p).toFixed(Math.abs(p) < 10 ? 1 : 0)} %`;
}
