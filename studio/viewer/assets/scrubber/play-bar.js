// @ts-check
// A bar that plays something: buttons, a strip to drag and to wheel over, where it stands, and two
// choices. What is played, and how the strip is painted, its heirs say.

import { capture } from "../canvas/drag.js";
import { button, fill, h, icon, iconButton, select } from "../page/dom.js";

const ICONS = {
  first: "M3 3v10M13 3v10L5.5 8z",
  last: "M13 3v10M3 3v10l7.5-5z",
  back: "M11 3v10L4 8z",
  next: "M5 3v10l7-5z",
  backLong: "M8 3v10L2.5 8zM14 3v10L8.5 8z",
  nextLong: "M2 3v10l5.5-5zM8 3v10l5.5-5z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4.5 3h2v10h-2zM9.5 3h2v10h-2z",
};
const WHEEL = 40; // pixels of a wheel for one place
const TIP_DELAY_MS = 80;

/** @typedef {[string, () => void]} Way what a button is called and does */

/**
 * @typedef {object} Setup
 * @property {string} shape class of the bar
 * @property {string} name of the bar
 * @property {string} strip name of the strip
 * @property {Record<"first" | "backLong" | "back" | "next" | "nextLong" | "last", Way>} ways
 * @property {() => void} toggle plays or pauses
 * @property {string[][]} heights of the bars: value and text
 * @property {{name: string, all: number[], set: (speed: number) => void}} speeds
 */

/** @abstract */
export class PlayBar {
  /** @param {Tooltip} tip @param {Setup} setup */
  constructor(tip, { shape, name, strip, ways, toggle, heights, speeds }) {
    this.tip = tip;
    this.hover = -1;
    this.height = heights[0][0];
    const tool = (/** @type {keyof typeof ways} */ way) => {
      const [label, act] = ways[way];
      return iconButton(label, ICONS[way], act);
    };
    this.play = button("Play (space)", "", toggle, "pl-play");
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "slider",
      "aria-label": strip,
      "aria-valuemin": 0,
    });
    this.where = h("span.pl-where");
    this.below = h("span.pl-totals");
    const height = select("Height of the bars", heights, this.height, (value) => {
      this.height = value;
      this.rescaled();
    });
    const all = speeds.all.map((v) => [String(v), `${v}×`]);
    this.speed = select(speeds.name, all, "1", (value) => speeds.set(Number(value)));
    this.el = h(
      `div.${shape}`,
      { role: "group", "aria-label": name },
      h(
        "div.pl-buttons",
        ...[tool("first"), tool("backLong"), tool("back")],
        this.play,
        ...[tool("next"), tool("nextLong"), tool("last")],
      ),
      h("div.pl-strip", this.canvas),
      h("div.pl-state", this.where, this.below),
      h("div.pl-selects", height, this.speed),
    );
    this.#listen();
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.canvas);
  }

  /** The last place; the first is 0. */
  get count() {
    return 0;
  }

  /** Go to a place, with no motion. @param {number} _k */
  jump(_k) {}

  /** The places that the strip shows. @returns {{from: number, to: number}} */
  get shown() {
    return { from: 0, to: this.count };
  }

  /** The wheel was turned. @param {number} _by places, also 0 */
  wheeled(_by) {}

  /**
   * The wheel was turned; it may mean something else than another place.
   * @param {WheelEvent} _e @param {number} _at share of the strip @returns {boolean} whether it did
   */
  zoom(_e, _at) {
    return false;
  }

  /** The strip was clicked twice. */
  zoomOut() {}

  /** Stop playing. */
  halt() {}

  /** The pointer has let go. */
  released() {}

  /** Paint the strip, or have it painted. */
  redraw() {}

  /** Other heights were chosen. */
  rescaled() {
    this.redraw();
  }

  /** What the tip says of a place. @param {number} _k @returns {any[] | null} */
  words(_k) {
    return null;
  }

  dispose() {
    this.observer.disconnect();
  }

  /** @param {boolean} playing */
  showPlaying(playing) {
    fill(this.play, icon(playing ? ICONS.pause : ICONS.play));
    this.play.setAttribute("aria-label", playing ? "Pause (space)" : "Play (space)");
  }

  /** @param {number} k @param {string | null} text what stands there; null keeps what was said */
  showPlace(k, text) {
    this.el.classList.toggle("pl-none", this.count === 0);
    this.canvas.setAttribute("aria-valuemax", String(this.count));
    this.canvas.setAttribute("aria-valuenow", String(k));
    if (text !== null) this.canvas.setAttribute("aria-valuetext", text);
  }

  /** @param {MouseEvent} e @returns {number} */
  #placeAt(e) {
    const { from, to } = this.shown;
    const t = this.#share(e);
    if (t <= 0.002 && from === 0) return 0;
    return Math.min(this.count, Math.max(0, Math.ceil(from + t * (to - from))));
  }

  /** How far along the strip. @param {MouseEvent} e */
  #share(e) {
    const r = this.canvas.getBoundingClientRect();
    return (e.clientX - r.left) / r.width;
  }

  #listen() {
    const { canvas } = this;
    let dragging = false;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      dragging = true;
      this.halt();
      capture(canvas, e);
      this.jump(this.#placeAt(e));
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      const k = this.#placeAt(e);
      if (dragging) this.jump(k);
      else if (k !== this.hover) {
        this.hover = k;
        this.redraw();
        this.#tell(k, e);
      }
    });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => {
        dragging = false;
        this.released();
      });
    canvas.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.tip.hide();
      this.redraw();
    });
    canvas.addEventListener("dblclick", () => this.zoomOut());
    let rest = 0;
    canvas.addEventListener(
      "wheel",
      (/** @type {WheelEvent} */ e) => {
        e.preventDefault();
        if (this.zoom(e, this.#share(e))) {
          this.tip.hide();
          return;
        }
        rest += (Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) / WHEEL;
        const by = Math.trunc(rest);
        rest -= by;
        this.wheeled(by);
      },
      { passive: false },
    );
  }

  /** @param {number} k @param {MouseEvent} e */
  #tell(k, e) {
    const words = this.words(k);
    if (!words) return;
    const around = this.canvas.getBoundingClientRect();
    this.tip.show(words, e, { delay: TIP_DELAY_MS, around, side: "above" });
  }
}
