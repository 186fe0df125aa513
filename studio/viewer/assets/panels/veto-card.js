// @ts-check
// The card of a rewrite that was just vetoed: what stays as it is, and what that cost.

import { button, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";
import { costOf } from "./vetoing.js";

const LISTED = 12; // steps written out

/** @typedef {import("../types.js").StepRecord} StepRecord */

/**
 * @param {import("../app/viewer.js").Viewer} viewer
 * @param {import("./vetoing.js").Vetoed} vetoed
 * @returns {(Node | null)[]}
 */
export function vetoCard(viewer, vetoed) {
  const { step, pass, elsewhere } = vetoed;
  const { veto, nav, theme } = viewer;
  const swatch = h("i.pl-swatch");
  swatch.style.background = theme?.family(pass?.family ?? "") ?? "";
  return [
    h("p.pl-dim", null, `Vetoed · was step ${step.n}`),
    h("header", null, swatch, h("h2", null, pass?.title ?? step.rule)),
    h("p.pl-rule", null, step.rule),
    h("p.pl-path", null, placeName(viewer, step.root)),
    h("h3", null, `${counted(step.matched.length, "node")} as before`),
    h("div.pl-chips", null, ...step.matched.map((id) => nodeChip(viewer, id))),
    h("p.pl-cost", null, costOf(vetoed)),
    ...elsewhere.map((other) => offer(viewer, other)),
    changes(viewer, vetoed),
    h(
      "div.pl-actions",
      null,
      button("Let this rewrite happen again", "Undo", () => veto.undo()),
      button("Show the place in the graph (g)", "Show", () => nav.follow(viewer.motion ? 200 : 0)),
    ),
    ongoing(viewer),
  ];
}

/** @param {import("../app/viewer.js").Viewer} viewer @param {string} id */
function record(viewer, id) {
  const s = /** @type {import("../session/session.js").Session} */ (viewer.session);
  const o = s.union.index.get(id);
  return o === undefined ? undefined : s.union.recs[o];
}

/** @param {import("../app/viewer.js").Viewer} viewer @param {string} id */
const placeName = (viewer, id) => record(viewer, id)?.name ?? id;

/** @param {import("../app/viewer.js").Viewer} viewer @param {string} id */
function nodeChip(viewer, id) {
  const rec = record(viewer, id);
  const chip = h(
    "button.pl-chip",
    {
      type: "button",
      title: rec?.name,
      onclick: () => viewer.actions.select(id, { reveal: true }),
    },
    rec?.op ?? id,
  );
  chip.style.borderLeftColor = viewer.theme?.category(rec?.cat ?? "unknown").solid ?? "";
  return chip;
}

/**
 * Another pass does something here now: it is not vetoed unless asked.
 * @param {import("../app/viewer.js").Viewer} viewer @param {StepRecord} step
 */
function offer(viewer, step) {
  const title = viewer.session?.trace?.passes[step.pass]?.title ?? step.rule;
  return h(
    "p",
    null,
    `${title} rewrites this place now, `,
    button(`Go to step ${step.n}`, `step ${step.n}`, () => viewer.nav.goto(step.n), "pl-link"),
    " ",
    button("Do not make that one either", "Veto it too", () => viewer.veto.ask(step), "pl-link"),
  );
}

/** @param {import("../app/viewer.js").Viewer} viewer @param {import("./vetoing.js").Vetoed} vetoed */
function changes(viewer, { gone, fresh }) {
  if (!gone.length && !fresh.length) return null;
  const title = (/** @type {StepRecord} */ step) =>
    viewer.session?.trace?.passes[step.pass]?.title ?? step.rule;
  const lost = gone.slice(0, LISTED).map((step) => h("li", null, `− ${title(step)}`));
  const made = fresh.slice(0, LISTED).map((step) =>
    h(
      "li",
      null,
      `+ ${title(step)}, `,
      button(`Go to step ${step.n}`, `step ${step.n}`, () => viewer.nav.goto(step.n), "pl-link"),
    ),
  );
  const more = gone.length - lost.length + fresh.length - made.length;
  const rest = more ? [h("li", null, `and ${more} more`)] : [];
  return h(
    "details.pl-changes",
    { open: gone.length + fresh.length <= 4 },
    h("summary", null, "Which steps"),
    h("ul", null, ...lost, ...made, ...rest),
  );
}

/** What the step is now, and back to it. @param {import("../app/viewer.js").Viewer} viewer */
function ongoing(viewer) {
  const s = /** @type {import("../session/session.js").Session} */ (viewer.session);
  if (!s.current) return null;
  const title = s.trace?.passes[s.current.pass]?.title ?? s.current.rule;
  const go = () => {
    viewer.veto.clear();
    viewer.shell.renderStep();
    viewer.nav.follow(viewer.motion ? 200 : 0);
  };
  return h(
    "p.pl-dim",
    null,
    `Step ${s.step} is now `,
    button("Show this rewrite", title, go, "pl-link"),
  );
}
