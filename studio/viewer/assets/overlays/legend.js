// @ts-check
// The key to the colours of an overlay: what pale and strong mean, or which colour is what; and which
// numbers are shown.

import { fill, h, segments, swatch, table } from "../page/dom.js";
import { whole } from "../page/numbers.js";
import { OVERLAYS } from "./registry.js";

const STOPS = 8;

export class Legend {
  /** @param {Context} context */
  constructor({ state, actions }) {
    this.state = state;
    this.actions = actions;
    this.el = h("div.pl-numbers", { role: "group", hidden: true });
    state.watch(["overlays", "wanted", "theme", "step"], () => this.render());
  }

  render() {
    const { overlay, session, theme, wanted } = this.state;
    this.el.hidden = !overlay || !theme || !session;
    if (!overlay || !theme || !session) return;
    const title = OVERLAYS.find(({ id }) => id === wanted)?.title ?? "";
    const { choices, choice } = overlay;
    const { scale, categories, note, hint, choosing } = overlay.legend(session, theme);
    this.el.setAttribute("aria-label", title);
    fill(
      this.el,
      h("b", title),
      categories && h("span.pl-origin", note),
      scale &&
        h(
          "span.pl-scale",
          ramp(overlay, theme),
          scale.map((text) => h("span", text)),
        ),
      categories && counts(categories),
      choices.length > 0 &&
        segments(choosing, choices, choice, (id) => this.actions.chooseNumbers(id)),
      scale && h("span.pl-origin", { title: hint }, note),
    );
  }
}

/** @param {NonNullable<import("./overlay.js").Legend["categories"]>} categories */
function counts({ heads, rows }) {
  const cells = rows.map(({ text, shade, counts }) => [
    h("th", { scope: "row" }, outlined(shade), text),
    ...counts.map((n) => (n ? whole(n) : "–")),
  ]);
  return table(cells, heads.some(Boolean) ? ["", ...heads] : undefined);
}

/** As a node is drawn. @param {import("./overlay.js").Shade} shade */
function outlined({ tint, edge, solid = tint }) {
  const el = swatch(`linear-gradient(to right, ${solid} 40%, ${tint} 40%)`);
  el.style.outline = `1px solid ${edge}`;
  return el;
}

/** @param {Overlay} overlay @param {Theme} theme */
function ramp(overlay, theme) {
  const stops = Array.from(
    { length: STOPS + 1 },
    (_, i) => overlay.colour(theme, { share: i / STOPS }).tint,
  );
  const bar = h("i.pl-ramp");
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return bar;
}
