// @ts-check
// The scrubber of a film: one bar an event.

import { bytesText } from "../page/numbers.js";
import { fill, h } from "../page/dom.js";
import { drawFilmBars } from "./bars.js";
import { nodeName, sentence, shortName } from "./words.js";
import { Stamped } from "../page/stamped.js";
import { PlayBar } from "../scrubber/play-bar.js";
import { FILM_SPEEDS } from "./player.js";

const HEIGHTS = [
  ["used", "live bytes"],
  ["peak", "arena of lazy"],
];

export class FilmBar extends PlayBar {
  /** @param {FilmPanel} panel @param {Tooltip} tip */
  constructor(panel, tip) {
    const { player } = panel;
    super(tip, {
      shape: "pl-filmbar",
      name: "Events",
      strip: "Event of the allocator",
      ways: {
        first: ["Nothing allocated (Home)", () => player.cut(0)],
        backLong: ["Previous node ([)", () => player.nodeBy(-1)],
        back: ["Previous event (←)", () => player.eventBy(-1)],
        next: ["Next event (→)", () => player.eventBy(1)],
        nextLong: ["Next node (])", () => player.nodeBy(1)],
        last: ["Last event (End)", () => player.cut(Infinity)],
      },
      toggle: () => player.toggle(),
      heights: HEIGHTS,
      speeds: {
        name: "Playing speed (< and >)",
        all: FILM_SPEEDS,
        set: (speed) => player.setSpeed(speed),
      },
    });
    this.panel = panel;
    /** @type {Stamped<HTMLCanvasElement>} */ this.painted = new Stamped();
  }

  /** @override */
  get count() {
    return this.panel.player.count;
  }

  /** @override @param {number} k */
  jump(k) {
    this.panel.player.goto(k, { quick: true });
  }

  /** @override @param {number} by */
  wheeled(by) {
    this.halt();
    if (by) this.jump(this.panel.player.at + by);
  }

  /** @override */
  halt() {
    this.panel.player.stop();
  }

  /** @override */
  released() {
    this.panel.settled();
  }

  /** @override */
  redraw() {
    this.panel.invalidate();
  }

  /** What does not move with every frame. */
  renderState() {
    const { playing, speed } = this.panel.player;
    this.showPlaying(playing);
    this.speed.value = String(speed);
  }

  render() {
    const { events, player } = this.panel;
    const k = player.at;
    fill(this.where, h("b", k.toLocaleString("en")), `/${this.count.toLocaleString("en")}`);
    const node = events ? nodeName(events, events.nodeAt(k)) : "";
    this.below.textContent = shortName(node, 24) || "before the run";
    this.below.title = node;
    this.showPlace(k, events && !player.playing ? sentence(events, k) : null);
    drawFilmBars(this);
  }

  /** @override @param {number} k @returns {any[] | null} */
  words(k) {
    const { events } = this.panel;
    if (!events) return null;
    return [
      h("b", `${k}  ${k ? events.kindOf(k) : "before the run"}`),
      h("div", sentence(events, k)),
      h("div.pl-dim", `${bytesText(events.used[k])} live in ${bytesText(events.peak[k])}`),
    ];
  }
}
