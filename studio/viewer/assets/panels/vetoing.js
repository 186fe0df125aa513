// @ts-check
// A veto from the click to what it cost: asked for in one trace, told of in the next.

import { button, fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { differing } from "../trace/combined.js";

/**
 * @typedef {object} Vetoed a rewrite that was vetoed, and what became of the others
 * @property {StepRecord} step as it was in the trace of its pipeline, as all of them are
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
    const [was, is] = [asked?.session.ownTrace, session.ownTrace];
    const held = is?.vetoed?.some((v) => v.match === asked?.step.match);
    if (asked && held && was && is && asked.session.graph === session.graph) {
      vetoed = outcome(was.steps[(asked.step.own ?? asked.step.n) - 1], was, is);
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
  const place = new Set(step.matched);
  return {
    step,
    pass: before.passes[step.pass],
    gone: onlyFirst.filter((other) => other !== step),
    fresh: onlySecond,
    elsewhere: onlySecond.filter(
      (other) => other.pass !== step.pass && other.matched.some((id) => place.has(id)),
    ),
  };
}

/** What a veto cost, in words. @param {Vetoed} vetoed */
export function costOf({ gone, fresh }) {
  if (!gone.length && !fresh.length) return "No other step changes.";
  const lost = `${counted(gone.length, "later step")} ${gone.length === 1 ? "vanishes" : "vanish"}`;
  const are = fresh.length === 1 ? "is" : "are";
  if (!gone.length) return `${counted(fresh.length, "later step")} ${are} new.`;
  return fresh.length ? `${lost}, ${fresh.length} ${are} new.` : `${lost}.`;
}
