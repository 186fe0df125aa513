// @ts-check
// The step card: which rewrite this is, what it did, and why it is safe.

import { Comparison } from "../session/comparison.js";
import { comparisonCard } from "./comparison-card.js";
import { button, fill, h } from "../page/dom.js";
import { copyText, permalink } from "../page/link.js";
import { drawMini } from "./step-picture.js";
import { amount, counted, FLOP, noun, signed } from "../page/numbers.js";
import { exactnessSign } from "./pass-info.js";
import { verdictLine } from "./verdict.js";
import { vetoCard } from "./veto-card.js";
import { weightsPicture } from "./weights-picture.js";

export class Card {
  /** @param {import("../app/actions.js").Context} context */
  constructor(context) {
    this.context = context;
    this.state = context.state;
    this.actions = context.actions;
    this.el = h("section.pl-card", { "aria-label": "This step" });
  }

  render() {
    const { session: s, data } = this.state;
    if (!s || data?.mode === "model") return;
    const step = this.state.stepped ? s.current : null;
    if (!s.trace) {
      fill(this.el, waiting(data?.busy ?? null));
      return;
    }
    if (this.state.vetoed) {
      fill(this.el, vetoCard(this.context, this.state.vetoed));
      return;
    }
    if (s instanceof Comparison && !step) {
      fill(this.el, comparisonCard(this.context, s));
      return;
    }
    if (!s.steps.length) {
      fill(
        this.el,
        h("h2", "Nothing to rewrite"),
        h(
          "p.pl-empty",
          "No enabled pass found a place where it applies. Near misses are listed under each pass as declined.",
        ),
      );
      return;
    }
    if (!step) {
      fill(this.el, this.#overview());
      return;
    }
    const side = s instanceof Comparison ? s.sides[s.sideOf(step)] : null;
    const pass = s.trace.passes[step.pass];
    const swatch = h("i.pl-swatch");
    swatch.style.background = this.state.theme?.family(pass?.family ?? "") ?? "";
    const d = step.delta ?? {};
    const facts = [
      d.nodes !== undefined && !step.weights ? [signed(d.nodes, ""), noun(d.nodes, "node")] : null,
      d.flops ? [signed(d.flops, "FLOP"), "computed"] : null,
      d.bytes ? [signed(d.bytes, "B"), "moved"] : null,
    ].filter((x) => x !== null);
    fill(
      this.el,
      h(
        "p.pl-dim",
        side
          ? `Only with ${side.name} · its step ${step.own}`
          : `Step ${step.n} of ${s.steps.length}`,
        step.round > 1 ? ` · round ${step.round}` : "",
      ),
      side &&
        button("List all rewrites that differ", "All that differs", () => this.#all(), "pl-link"),
      h("header", swatch, h("h2", pass?.title ?? step.rule)),
      ruleLine(step, pass),
      step.weights ? weightsPicture(step.weights) : this.#mini(),
      h("div.pl-facts", facts.map(fact)),
      step.why && h("div", h("h3", "Why here"), h("p", step.why)),
      pass?.safe && h("div", h("h3", "When it is safe"), h("p", pass.safe)),
      pass?.numerics && h("div", h("h3", "Numerics"), h("p", pass.numerics)),
      step.depends?.length &&
        h(
          "p.pl-dim",
          "Builds on ",
          step.depends
            .slice(-6)
            .flatMap((n) => [
              button(`Go to step ${n}`, `step ${n}`, () => this.actions.goto(n), "pl-link"),
              " ",
            ]),
        ),
      h(
        "div.pl-actions",
        side && side !== /** @type {Comparison} */ (s).sides[0]
          ? null // the other pipeline takes no vetoes
          : button("Do not make this rewrite", "Veto", () => this.actions.veto(step)),
        button("Show the place in the graph (g)", "Show", () => this.#show(step)),
        button("Copy the match id", "Copy id", (e) => copy(step.match, e)),
        button("Copy a link to this step", "Copy link", (e) => copy(permalink(this.state), e)),
      ),
      verdictLine(this.state.data?.verified),
      pass?.source && h("details", h("summary", "Source"), h("p.pl-source", pass.source)),
    );
  }

  #overview() {
    const s = /** @type {import("../session/session.js").Session} */ (this.state.session);
    const t = s.trace?.totals ?? {};
    const passes = new Set(s.steps.map((x) => x.pass)).size;
    const failed = s.trace?.passes.reduce((n, p) => n + (p.failed ?? 0), 0);
    const row = (
      /** @type {string} */ name,
      /** @type {number[] | undefined} */ v,
      /** @type {string} */ unit,
    ) =>
      v && v.length > 1 && v[0]
        ? h(
            "tr",
            h("th", { scope: "row", title: unit === "FLOP" ? FLOP : null }, name),
            h("td", amount(v[0], unit)),
            h("td", amount(v[1], unit)),
            h("td", percent(v)),
          )
        : null;
    return [
      h(
        "p.pl-dim",
        `${counted(s.steps.length, "rewrite")} by ${counted(passes, "pass", "passes")}`,
      ),
      h("h2", s.graph.name),
      failed
        ? h(
            "p.pl-failed",
            `${counted(failed, "rule")} failed and had no further say: a bug, told in the list of passes.`,
          )
        : null,
      h(
        "p.pl-lead",
        "Before: the network as it was loaded. After: as the passes leave it. Step through the rewrites between the two.",
      ),
      h(
        "div.pl-actions",
        button("First rewrite", "First rewrite →", () => this.actions.goto(1), "pl-first"),
        button("Play all rewrites (space)", "Play", () => this.actions.play()),
      ),
      h(
        "p.pl-dim.pl-hint",
        "Keys → and ← step, space plays, ? shows all. Or drag along the strip below.",
      ),
      h(
        "table",
        h(
          "thead",
          h(
            "tr",
            h("td"),
            h("th", { scope: "col" }, "before"),
            h("th", { scope: "col" }, "after"),
            h("td"),
          ),
        ),
        h(
          "tbody",
          row("Nodes", t.nodes, ""),
          row("FLOP", t.flops, "FLOP"),
          row("Bytes moved", t.bytes, "B"),
        ),
      ),
      verdictLine(this.state.data?.verified),
    ];
  }

  #all() {
    this.actions.goto(0);
    this.actions.focusGraph(); // this button goes away
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

  /** @param {import("../types.js").StepRecord} step */
  #show(step) {
    this.actions.reveal(step.added[0] ?? step.root);
    this.actions.follow(this.state.motion ? 200 : 0);
  }
}

/** @param {string[]} words an amount, and what was saved @returns {HTMLElement} */
const fact = ([value, what]) =>
  h("span", { title: value.endsWith("FLOP") ? FLOP : null }, h("b", value), ` ${what}`);

/**
 * The rule, and how exact its pass is.
 * @param {import("../types.js").StepRecord} step
 * @param {import("../types.js").PassRecord | undefined} pass
 */
function ruleLine({ rule }, pass) {
  const line = h("p.pl-rule", rule, " ");
  if (pass) line.append(exactnessSign(pass.exactness), h("span.pl-dim", ` ${pass.exactness}`));
  return line;
}

/**
 * Before there is a trace: it is being made, or nothing is to be made.
 * @param {import("../types.js").Descriptor["busy"]} busy
 */
function waiting(busy) {
  if (!busy)
    return [
      h("h2", "No rewrites yet"),
      h(
        "p.pl-empty",
        "Switch passes on at the left; every rewrite they make will be one step here.",
      ),
    ];
  const [doing] = busy.text.split(":");
  return [
    h("h2", doing),
    h("p.pl-empty", "Every rewrite will be one step here, as soon as all are found."),
  ];
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
