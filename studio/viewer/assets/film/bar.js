// @ts-check
// The scrubber of a film: one bar an event. The bars are painted once; a frame only copies them and
// moves the cursor.

import { bytesText } from "../page/numbers.js";
import { fill, h } from "../page/dom.js";
import { drawCursor, penOf } from "../canvas/pen.js";
import { nodeName, sentence, shortName } from "./words.js";
import { Stamped } from "../page/stamped.js";
import { BASE, PlayBar, TOP } from "../scrubber/play-bar.js";
import { FILM_SPEEDS } from "./player.js";

const HEIGHTS = [
  ["used", "live bytes"],
  ["peak", "arena of lazy"],
];
const AHEAD = 0.34;

export class FilmBar {
  /** @param {FilmPanel} panel @param {Tooltip} tip */
  constructor(panel, tip) {
    const { player } = panel;
    const jump = (/** @type {number} */ k) => player.goto(k, { quick: true });
    this.panel = panel;
    this.bar = new PlayBar(tip, {
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
      heights: HEIGHTS,
      speeds: {
        name: "Playing speed (< and >)",
        all: FILM_SPEEDS,
        set: (speed) => player.setSpeed(speed),
      },
      count: () => player.count,
      toggle: () => player.toggle(),
      halt: () => player.stop(),
      jump,
      wheeled: (by) => {
        player.stop();
        if (by) jump(player.at + by);
      },
      redraw: () => panel.invalidate(),
      words: (k) => this.#words(k),
      released: () => panel.settled(),
    });
    this.el = this.bar.el;
    /** @type {Stamped<HTMLCanvasElement>} */ this.painted = new Stamped();
  }

  /** What does not move with every frame. */
  renderState() {
    const { playing, speed } = this.panel.player;
    this.bar.showPlaying(playing);
    this.bar.speed.value = String(speed);
  }

  render() {
    const { events, player } = this.panel;
    const { at: k, count } = player;
    const { where, below } = this.bar;
    fill(where, h("b", k.toLocaleString("en")), `/${count.toLocaleString("en")}`);
    const node = events ? nodeName(events, events.nodeAt(k)) : "";
    below.textContent = shortName(node, 24) || "before the run";
    below.title = node;
    this.bar.showPlace(k, events && !player.playing ? sentence(events, k) : null);
    this.#draw();
  }

  /** What the tip says of an event. @param {number} k @returns {any[] | null} */
  #words(k) {
    const { events } = this.panel;
    if (!events) return null;
    return [
      h("b", `${k}  ${k ? events.kindOf(k) : "before the run"}`),
      h("div", sentence(events, k)),
      h("div.pl-dim", `${bytesText(events.used[k])} live in ${bytesText(events.peak[k])}`),
    ];
  }

  #draw() {
    const { events, player, state } = this.panel;
    const { theme } = state;
    const { canvas, height, hover } = this.bar;
    const [w, tall] = [canvas.clientWidth, canvas.clientHeight];
    if (!w || !theme) return;
    const c = this.bar.begin(theme, w, tall);
    if (!events?.count) return;
    const { width: pw, height: ph } = canvas;
    const stamp = [events, w, pw, ph, height, theme];
    const all = this.painted.get("bars", stamp, () => paint(events, height, theme, [w, tall]));
    const x = (player.at / events.count) * w;
    const cut = Math.round((x / w) * pw);
    c.setTransform(1, 0, 0, 1, 0, 0);
    if (cut > 0) c.drawImage(all, 0, 0, cut, ph, 0, 0, cut, ph);
    c.globalAlpha = AHEAD;
    if (cut < pw) c.drawImage(all, cut, 0, pw - cut, ph, cut, 0, pw - cut, ph);
    c.globalAlpha = 1;
    penOf(canvas, w, tall);
    if (hover > 0) {
      c.fillStyle = theme.muted;
      c.fillRect((hover / events.count) * w - 0.5, 2, 1, tall - 3);
    }
    drawCursor(c, Math.min(w - 1, Math.max(1, x)), tall, theme.primary);
  }
}

/**
 * All bars on a canvas of their own.
 * @param {AllocatorEvents} events @param {string} height what the bars stand for
 * @param {Theme} theme @param {[number, number]} size
 */
function paint(events, height, theme, [w, tall]) {
  const all = document.createElement("canvas");
  const c = penOf(all, w, tall);
  const values = height === "used" ? events.used : events.peak;
  const most = events.peak[events.count] || 1;
  const floor = tall - BASE;
  const wide = w / events.count;
  const each = Math.max(1, Math.ceil(1 / wide)); // events behind one pixel column
  const gap = wide > 4 ? 1 : wide > 2 ? 0.5 : 0;
  for (let i = 0; i < events.count; i += each) {
    let best = i;
    for (let j = i + 1; j < Math.min(events.count, i + each); j++)
      if (values[j + 1] > values[best + 1]) best = j;
    const high = Math.max(1, (values[best + 1] / most) * (floor - TOP));
    const colours = theme.category(events.maker(events.buffer[best])?.[3] ?? "unknown");
    c.fillStyle = events.comes(best + 1) ? colours.solid : colours.edge;
    c.fillRect(i * wide, floor - high, Math.max(1, wide * each - gap), high);
  }
  return all;
}
