// @ts-check
// The drawing with what moves it: play, steps, a slider, speed; and as a file.

import { fill, h, iconButton, select } from "../page/dom.js";
import { isMeantFor } from "../page/keyboard.js";
import { applyColours, readTheme } from "../page/theme.js";
import { Drawing } from "./drawing.js";

/** @typedef {import("./types.js").Points} Points */

const SPEEDS = [2, 8, 20, 60]; // ticks a second
const FIRST = 0.4; // of the order: tiles can be told apart
const ICONS = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5v11L13 8z",
  pause: "M5 3v10M11 3v10",
  next: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
};

export class PointsView {
  /** @param {Element} home */
  constructor(home) {
    /** @type {Points | null} */ this.points = null;
    /** @type {Drawing | null} */ this.drawing = null;
    this.at = 0;
    this.timer = 0;
    this.speed = SPEEDS[1];
    this.played = false;
    this.known = "";
    this.slider = h("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": "Point of the order",
    });
    this.slider.addEventListener("input", () => this.goto(Number(this.slider.value)));
    this.playButton = iconButton("Play (space)", ICONS.play, () => this.toggle());
    this.where = h("span.pp-where", { "aria-live": "polite" });
    this.stage = h("div.pp-stage", { tabindex: 0, role: "group", "aria-label": "Points" });
    this.note = h("span.pp-note");
    const speeds = SPEEDS.map((one) => [String(one), `${one} a second`]);
    this.root = h(
      "div.pl-root.pp-root",
      this.stage,
      h(
        "div.pp-bar",
        iconButton("First (Home)", ICONS.first, () => this.goto(0)),
        iconButton("Back (←)", ICONS.back, () => this.goto(this.at - 1)),
        this.playButton,
        iconButton("Next (→)", ICONS.next, () => this.goto(this.at + 1)),
        iconButton("Last (End)", ICONS.last, () => this.goto(Infinity)),
        this.slider,
        select("Speed", speeds, String(this.speed), (value) => this.#faster(Number(value))),
        h("button.pp-save", { onclick: () => this.save() }, "SVG"),
      ),
      h("div.pp-below", this.where, legend(), this.note),
    );
    this.root.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.#key(e));
    home.append(this.root);
  }

  /** @param {Points} points */
  update(points) {
    const theme = readTheme(this.root);
    applyColours(this.root, theme);
    const known = JSON.stringify([points, theme]);
    if (known === this.known) return;
    this.known = known;
    const same = JSON.stringify(this.points?.ticks) === JSON.stringify(points.ticks);
    this.points = points;
    this.drawing = new Drawing(points, theme);
    fill(this.stage, this.drawing.el);
    this.slider.max = String(this.last);
    this.note.textContent = noteOf(points);
    if (!same) this.stop();
    this.goto(same ? this.at : this.#beginning(), { keep: same });
  }

  get last() {
    return Math.max(0, (this.points?.ticks.length ?? 1) - 1);
  }

  /** A moment at which the last stage reads something: it shows most. */
  #beginning() {
    const { ticks, stages } = /** @type {Points} */ (this.points);
    const at = Math.round(this.last * FIRST);
    const reading = ticks.findIndex((one, k) => k >= at && one.stage === stages.length - 1);
    return reading < 0 ? at : reading;
  }

  /** @param {number} at @param {{keep?: boolean}} [how] whether it goes on playing */
  goto(at, { keep = false } = {}) {
    if (!keep) this.stop();
    this.at = Math.min(this.last, Math.max(0, at));
    this.drawing?.show(this.at);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", this.#sentence());
    this.where.setAttribute("aria-live", this.timer ? "off" : "polite");
    this.where.textContent = this.#sentence();
  }

  #sentence() {
    const tick = this.points?.ticks[this.at];
    if (!this.points || !tick) return "";
    const { name, axes } = this.points.stages[tick.stage];
    const [row, column] = tick.cells[0];
    const lanes = tick.cells.length > 1 ? `, ${tick.cells.length} at once` : "";
    const place = [axes[0] && `${axes[0]} ${row}`, axes[1] && `${axes[1]} ${column}`];
    const words = place.filter(Boolean).join(", ");
    return `${this.at + 1} of ${this.last + 1}: ${name} at ${words}${lanes}`;
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at === this.last) this.goto(0);
    this.timer = window.setInterval(() => this.#tick(), 1000 / this.speed);
    this.#showPlaying();
  }

  #tick() {
    if (!this.root.isConnected || this.at === this.last) return this.stop();
    this.goto(this.at + 1, { keep: true });
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.#showPlaying();
  }

  #showPlaying() {
    const path = this.timer ? ICONS.pause : ICONS.play;
    this.playButton.querySelector("path")?.setAttribute("d", path);
    const name = this.timer ? "Pause (space)" : "Play (space)";
    for (const attribute of ["title", "aria-label"]) this.playButton.setAttribute(attribute, name);
  }

  /** @param {number} speed */
  #faster(speed) {
    this.speed = speed;
    if (!this.timer) return;
    this.stop();
    this.toggle();
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const target = /** @type {HTMLElement} */ (e.composedPath()[0]);
    if (e.altKey || e.ctrlKey || e.metaKey || isMeantFor(target, e.key)) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => this.goto(this.at - 1),
      ArrowRight: () => this.goto(this.at + 1),
      Home: () => this.goto(0),
      End: () => this.goto(Infinity),
      " ": () => this.toggle(),
    };
    if (!Object.hasOwn(acts, e.key)) return;
    acts[e.key]();
    e.preventDefault();
    e.stopPropagation();
  }

  save() {
    if (!this.drawing) return;
    const text = new XMLSerializer().serializeToString(this.drawing.el);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = "passlens-points.svg";
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  dispose() {
    this.stop();
    this.root.remove();
  }
}

/** What is not drawn. @param {Points} points */
function noteOf({ note, left_out, tails }) {
  const left = left_out.length ? `Not drawn: ${left_out.join(", ")}.` : "";
  const ends = tails.map((one) => `${one[0].toUpperCase()}${one.slice(1)}.`);
  return [note && `Drawn: ${note}.`, left, ...ends].filter(Boolean).join(" ");
}

const legend = () =>
  h(
    "span.pp-legend",
    h("span.pp-key.pp-now", "runs now"),
    h("span.pp-key.pp-read", "is read by it"),
    h("span.pp-key.pp-again", "has run more than once"),
    h("span.pp-key.pp-beyond", "needed by nobody"),
    h("span.pp-key.pp-tile", "tile"),
    h("span", "→ dependence"),
  );
