// @ts-check
// A bar that plays something: buttons, a strip to drag and to wheel over, where it stands, and two
// choices. What is played, and how the strip is painted, says whoever makes one.

import { capture } from "../canvas/drag.js";
import { penOf } from "../canvas/pen.js";
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
export const TOP = 9; // free above the bars
export const BASE = 6; // and below them
const WHEEL = 40; // pixels of a wheel for one place
const TIP_DELAY_MS = 80;

/** @typedef {[string, () => void]} Way what a button is called and does */

/**
 * @typedef {object} Played a place after the other
 * @property {string} shape class of the bar
 * @property {string} name of the bar
 * @property {string} strip name of the strip
 * @property {Record<"first" | "backLong" | "back" | "next" | "nextLong" | "last", Way>} ways
 * @property {string[][]} heights of the bars: value and text
 * @property {{name: string, all: number[], set: (speed: number) => void}} speeds
 * @property {() => number} count the last place; the first is 0
 * @property {() => void} toggle plays or pauses
 * @property {() => void} halt stops playing
 * @property {(k: number) => void} jump goes to a place, with no motion
 * @property {(by: number) => void} wheeled the wheel was turned by so many places, also 0
 * @property {() => void} redraw paints the strip, or has it painted
 * @property {(k: number) => any[] | null} words of the tip on a place
 * @property {() => void} [released] the pointer has let go
 * @property {() => void} [rescaled] other heights were chosen
 * @property {{from: number, to: number}} [shown] the places that the strip shows, where not all
 * @property {(e: WheelEvent, at: number) => boolean} [zoom] whether the wheel, at a share of the strip,
 *   meant something else than another place
 * @property {() => void} [zoomOut] the strip was clicked twice
 */

export class PlayBar {
  /** @param {Tooltip} tip @param {Played} played */
  constructor(tip, played) {
    const { shape, name, strip, ways, heights, speeds } = played;
    this.played = played;
    this.tip = tip;
    this.hover = -1;
    this.height = heights[0][0];
    const tool = (/** @type {keyof typeof ways} */ way) => {
      const [label, act] = ways[way];
      return iconButton(label, ICONS[way], act);
    };
    this.play = button("Play (space)", "", played.toggle, "pl-play");
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
      (played.rescaled ?? played.redraw)();
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
    this.observer = new ResizeObserver(() => played.redraw());
    this.observer.observe(this.canvas);
  }

  dispose() {
    this.observer.disconnect();
  }

  /**
   * The strip, empty but for the line that its bars stand on.
   * @param {Theme} theme @param {number} width @param {number} height
   */
  begin(theme, width, height) {
    const c = penOf(this.canvas, width, height);
    c.clearRect(0, 0, width, height);
    c.fillStyle = theme.border;
    c.fillRect(0, height - BASE, width, 1);
    return c;
  }

  /** @param {boolean} playing */
  showPlaying(playing) {
    fill(this.play, icon(playing ? ICONS.pause : ICONS.play));
    this.play.setAttribute("aria-label", playing ? "Pause (space)" : "Play (space)");
  }

  /** @param {number} k @param {string | null} text what stands there; null keeps what was said */
  showPlace(k, text) {
    const count = this.played.count();
    this.el.classList.toggle("pl-none", count === 0);
    this.canvas.setAttribute("aria-valuemax", String(count));
    this.canvas.setAttribute("aria-valuenow", String(k));
    if (text !== null) this.canvas.setAttribute("aria-valuetext", text);
  }

  /** @param {MouseEvent} e @returns {number} */
  #placeAt(e) {
    const count = this.played.count();
    const { from, to } = this.played.shown ?? { from: 0, to: count };
    const t = this.#share(e);
    if (t <= 0.002 && from === 0) return 0;
    return Math.min(count, Math.max(0, Math.ceil(from + t * (to - from))));
  }

  /** How far along the strip. @param {MouseEvent} e */
  #share(e) {
    const r = this.canvas.getBoundingClientRect();
    return (e.clientX - r.left) / r.width;
  }

  #listen() {
    const { canvas, played } = this;
    let dragging = false;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      dragging = true;
      played.halt();
      capture(canvas, e);
      played.jump(this.#placeAt(e));
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      const k = this.#placeAt(e);
      if (dragging) played.jump(k);
      else if (k !== this.hover) {
        this.hover = k;
        played.redraw();
        this.#tell(k, e);
      }
    });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => {
        dragging = false;
        played.released?.();
      });
    canvas.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.tip.hide();
      played.redraw();
    });
    canvas.addEventListener("dblclick", () => played.zoomOut?.());
    let rest = 0;
    canvas.addEventListener(
      "wheel",
      (/** @type {WheelEvent} */ e) => {
        e.preventDefault();
        if (played.zoom?.(e, this.#share(e))) {
          this.tip.hide();
          return;
        }
        rest += (Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) / WHEEL;
        const by = Math.trunc(rest);
        rest -= by;
        played.wheeled(by);
      },
      { passive: false },
    );
  }

  /** @param {number} k @param {MouseEvent} e */
  #tell(k, e) {
    const words = this.played.words(k);
    if (!words) return;
    const around = this.canvas.getBoundingClientRect();
    this.tip.show(words, e, { delay: TIP_DELAY_MS, around, side: "above" });
  }
}
