// @ts-check
// The key to the colours of an overlay: what pale and strong mean, and which numbers are shown.

import { fill, h, segments } from "../page/dom.js";
import { OVERLAYS } from "./registry.js";

const STOPS = 8;

export class Legend {
  /** @param {Context} context */
  constructor({ state, actions }) {
    this.state = state;
    this.actions = actions;
    this.el = h("div.pl-numbers", { role: "group", hidden: true });
    state.watch(["overlays", "wanted", "theme"], () => this.render());
  }

  render() {
    const { overlay, theme, wanted } = this.state;
    this.el.hidden = !overlay || !theme;
    if (!overlay || !theme) return;
    const title = OVERLAYS.find(({ id }) => id === wanted)?.title ?? "";
    const { choices, choice } = overlay;
    const { middle, most, note, hint, choosing } = overlay.legend();
    this.el.setAttribute("aria-label", title);
    fill(
      this.el,
      h("b", title),
      h(
        "span.pl-scale",
        ramp(overlay, theme),
        ["0", middle, most].map((text) => h("span", text)),
      ),
      choices.length > 0 &&
        segments(choosing, choices, choice, (id) => this.actions.chooseNumbers(id)),
      h("span.pl-origin", { title: hint }, note),
    );
  }
}

/** @param {Overlay} overlay @param {Theme} theme */
function ramp(overlay, theme) {
  const stops = Array.from({ length: STOPS + 1 }, (_, i) => overlay.colour(theme, i / STOPS).tint);
  const bar = h("i.pl-ramp");
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return bar;
}
