// @ts-check
// The card of a rewrite that was just vetoed: what stays as it is, and what that cost.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { costOf } from "./vetoing.js";

const LISTED = 12; // steps written out

/** @typedef {import("../types.js").StepRecord} StepRecord */

/**
 * @param {import("../app/actions.js").Context} context
 * @param {import("./vetoing.js").Vetoed} vetoed
 * @returns {(Node | null)[]}
 */
export function vetoCard(context, vetoed) {
  const { step, pass, elsewhere } = vetoed;
  const { state, actions } = context;
  const swatch = h("i.pl-swatch");
  swatch.style.background = state.theme?.family(pass?.family ?? "") ?? "";
  return [
    h("p.pl-dim", `Vetoed · was step ${step.n}`),
    h("header", swatch, h("h2", pass?.title ?? step.rule)),
    h("p.pl-rule", step.rule),
    h("p.pl-path", placeName(context, step.root)),
    h("h3", `${counted(step.matched.length, "node")} as before`),
    h(
      "div.pl-chips",
      step.matched.map((id) => nodeChip(context, id)),
    ),
    h("p.pl-cost", costOf(vetoed)),
    ...elsewhere.map((other) => offer(context, other)),
    changes(context, vetoed),
    h(
      "div.pl-actions",
      button("Let this rewrite happen again", "Undo", () => actions.undoVeto()),
      button("Show the place in the graph (g)", "Show", () =>
        actions.follow(state.motion ? 200 : 0),
      ),
    ),
    ongoing(context),
  ];
}

/** @param {import("../app/actions.js").Context} context @param {string} id */
function record(context, id) {
  const s = /** @type {import("../session/session.js").Session} */ (context.state.session);
  const o = s.union.index.get(id);
  return o === undefined ? undefined : s.union.recs[o];
}

/** @param {import("../app/actions.js").Context} context @param {string} id */
const placeName = (context, id) => record(context, id)?.name ?? id;

/** @param {import("../app/actions.js").Context} context @param {string} id */
function nodeChip(context, id) {
  const rec = record(context, id);
  const chip = h(
    "button.pl-chip",
    { title: rec?.name, onclick: () => context.actions.select(id, { reveal: true }) },
    rec?.op ?? id,
  );
  chip.style.borderLeftColor = context.state.theme?.category(rec?.cat ?? "unknown").solid ?? "";
  return chip;
}

/**
 * Another pass does something here now: it is not vetoed unless asked.
 * @param {import("../app/actions.js").Context} context @param {StepRecord} step
 */
function offer(context, step) {
  const title = context.state.session?.trace?.passes[step.pass]?.title ?? step.rule;
  return h(
    "p",
    `${title} rewrites this place now, `,
    button(`Go to step ${step.n}`, `step ${step.n}`, () => context.actions.goto(step.n), "pl-link"),
    " ",
    button(
      "Do not make that one either",
      "Veto it too",
      () => context.actions.veto(step),
      "pl-link",
    ),
  );
}

/** @param {import("../app/actions.js").Context} context @param {import("./vetoing.js").Vetoed} vetoed */
function changes(context, { gone, fresh }) {
  if (!gone.length && !fresh.length) return null;
  const title = (/** @type {StepRecord} */ step) =>
    context.state.session?.trace?.passes[step.pass]?.title ?? step.rule;
  const lost = gone.slice(0, LISTED).map((step) => h("li", `− ${title(step)}`));
  const made = fresh.slice(0, LISTED).map((step) =>
    h(
      "li",
      `+ ${title(step)}, `,
      button(
        `Go to step ${step.n}`,
        `step ${step.n}`,
        () => context.actions.goto(step.n),
        "pl-link",
      ),
    ),
  );
  const more = gone.length - lost.length + fresh.length - made.length;
  const rest = more ? [h("li", `and ${more} more`)] : [];
  return h(
    "details.pl-changes",
    { open: gone.length + fresh.length <= 4 },
    h("summary", "Which steps"),
    h("ul", lost, made, rest),
  );
}

/** What the step is now, and back to it. @param {import("../app/actions.js").Context} context */
function ongoing(context) {
  const s = /** @type {import("../session/session.js").Session} */ (context.state.session);
  if (!s.current) return null;
  const title = s.trace?.passes[s.current.pass]?.title ?? s.current.rule;
  const go = () => {
    context.actions.endVeto();
    context.actions.follow(context.state.motion ? 200 : 0);
  };
  return h("p.pl-dim", `Step ${s.step} is now `, button("Show this rewrite", title, go, "pl-link"));
}
