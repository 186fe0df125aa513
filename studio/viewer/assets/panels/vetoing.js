// @ts-check
// A veto from the click to what it cost: asked for in one trace, told of in the next.

import { button, fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { differing } from "../trace/combined.js";

/**
 * @typedef {object} Vetoed a rewrite that was vetoed, and what became of the others
 * @property {StepRecord} step as it was
 * @property {PassRecord | undefined} pass
 * @property {StepRecord[]} gone later steps that are no more, as they were
 * @property {StepRecord[]} fresh steps that were not there before
 * @property {StepRecord[]} elsewhere those of them by which another pass rewrites the same place
 */

export class Vetoing {
  /** @param {Context} context */
  constructor(context) {
    this.state = context.state;
    this.actions = context.actions;
    this.el = h("div.pl-toast", { hidden: true, role: "status" });
    /** @type {{step: StepRecord, session: Session} | null} not answered yet */ this.asked = null;
  }

  /** @param {StepRecord} step */
  ask(step) {
    const session = /** @type {Session} */ (this.state.session);
    const pass = session.trace?.passes[step.pass]?.id ?? "";
    const { match, rule, root } = step;
    this.asked = { step, session };
    this.actions.send("veto", { match, pass, rule, root, step: session.linkedStep() });
  }

  undo() {
    const match = this.state.vetoed?.step.match;
    this.clear();
    if (match) this.allow(match);
  }

  /** @param {string} match */
  allow(match) {
    this.actions.send("unveto", { match, step: this.state.session?.linkedStep() ?? 0 });
  }

  /** Another trace is there: is it the answer? @param {Session} session */
  arrived(session) {
    const { asked } = this;
    this.asked = null;
    /** @type {Vetoed | null} */ let vetoed = null;
    const held = session.trace?.vetoed?.some((v) => v.match === asked?.step.match);
    const traces = [asked?.session.trace, session.trace];
    if (asked && held && traces[0] && traces[1] && asked.session.graph === session.graph) {
      vetoed = outcome(asked.step, traces[0], traces[1]);
      session.mark("vetoed", asked.step.matched);
    }
    this.#tell(vetoed);
  }

  /** Speak of the steps again. */
  clear() {
    if (!this.state.vetoed) return;
    this.#tell(null);
    this.actions.mark(null, []);
  }

  /** @param {Vetoed | null} vetoed what the card speaks of */
  #tell(vetoed) {
    this.state.set({ vetoed });
    this.el.hidden = !vetoed;
    if (!vetoed) return;
    fill(
      this.el,
      h("span", `Vetoed. ${costOf(vetoed)}`),
      button("Let this rewrite happen again", "Undo", () => this.undo()),
      button("Close this note", "×", () => this.#close(), "pl-x"),
    );
  }

  #close() {
    this.el.hidden = true;
  }
}

/** @param {StepRecord} step @param {StepsJson} before @param {StepsJson} after @returns {Vetoed} */
function outcome(step, before, after) {
  const { onlyFirst, onlySecond } = differing(before, after);
  const told = (/** @type {StepRecord[]} */ steps) => new Set(steps.map(ofConstants));
  const [was, is] = [told(onlyFirst), told(onlySecond)];
  const gone = onlyFirst.filter((other) => other !== step && !is.has(ofConstants(other) ?? ""));
  const fresh = onlySecond.filter((other) => !was.has(ofConstants(other) ?? ""));
  const place = new Set(step.matched);
  return {
    step,
    pass: before.passes[step.pass],
    gone,
    fresh,
    elsewhere: fresh.filter(
      (other) => other.pass !== step.pass && other.matched.some((id) => place.has(id)),
    ),
  };
}

/**
 * A step by which only constants come and go is the same wherever it was found: what it says of them.
 * @param {StepRecord} step @returns {string | null} null where nodes come or go
 */
function ofConstants({ added, removed, pass, rule, why }) {
  return added.length + removed.length ? null : JSON.stringify([pass, rule, why]);
}

/** What a veto cost, in words. @param {Vetoed} vetoed */
export function costOf({ gone, fresh }) {
  if (!gone.length && !fresh.length) return "No other step changes.";
  const lost = `${counted(gone.length, "later step")} ${gone.length === 1 ? "vanishes" : "vanish"}`;
  const are = fresh.length === 1 ? "is" : "are";
  if (!gone.length) return `${counted(fresh.length, "later step")} ${are} new.`;
  return fresh.length ? `${lost}, ${fresh.length} ${are} new.` : `${lost}.`;
}
