// @ts-check
// The key to the colours of time: what cold and hot mean in µs, and which run is shown.

import { fill, h } from "../page/dom.js";
import { microseconds } from "./latency.js";

const STOPS = 8;

export class Legend {
  /** @param {import("../app/viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.el = h("div.pl-heat", { role: "group", "aria-label": "Time of a node", hidden: true });
  }

  render() {
    const { viewer } = this;
    const { heat, theme } = viewer;
    this.el.hidden = !heat || !viewer.warm || !theme;
    if (!heat || !theme || this.el.hidden) return;
    const bar = h("i.pl-ramp");
    const stops = Array.from({ length: STOPS + 1 }, (_, i) => theme.heat(i / STOPS).tint);
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    const { most } = heat;
    fill(
      this.el,
      h("b", null, "Time of a node"),
      h(
        "span.pl-scale",
        null,
        bar,
        h("span", null, "0"),
        h("span", null, microseconds(most / 4)),
        h("span", null, microseconds(most)),
      ),
      h(
        "span.pl-seg",
        { role: "group", "aria-label": "Run" },
        this.#option("steady", "steady", "Medians of the later runs"),
        this.#option("first", "first run", "The first run"),
      ),
      h(
        "span.pl-taken",
        { title: "The time that the runtime's profiler itself takes of each node" },
        heat.takenOff,
      ),
    );
  }

  /** @param {import("./latency.js").Phase} phase @param {string} text @param {string} hint */
  #option(phase, text, hint) {
    const { viewer } = this;
    return h(
      "button",
      {
        type: "button",
        title: hint,
        "aria-pressed": String(viewer.heat?.phase === phase),
        onclick: () => viewer.setPhase(phase),
      },
      text,
    );
  }
}
