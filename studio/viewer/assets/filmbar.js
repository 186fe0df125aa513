// @ts-check
// The scrubber of a film: one bar an event. It looks and feels like the scrubber of rewrites.

import { bytesText } from "./bytes.js";
import { button, fill, h, icon } from "./dom.js";
import { drawFilmBars } from "./filmbars.js";
import { nodeName, sentence, shortName } from "./filmwords.js";
import { FILM_SPEEDS } from "./player.js";
import { ICONS } from "./scrubber.js";

const HEIGHTS = [
  ["used", "live bytes"],
  ["peak", "arena of lazy"],
];

export class FilmBar {
  /** @param {import("./filmpanel.js").FilmPanel} panel @param {import("./tooltip.js").Tooltip} tip */
  constructor(panel, tip) {
    this.panel = panel;
    this.tip = tip;
    /** @type {"used" | "peak"} */ this.height = "used";
    this.hover = -1;
    /** @type {import("./filmbars.js").Bars | null} */ this.bars = null;
    const { player } = panel;
    const tool = (
      /** @type {string} */ label,
      /** @type {string} */ path,
      /** @type {() => void} */ act,
    ) => {
      const b = button(label, "", act);
      b.append(icon(path));
      return b;
    };
    this.play = button("Play (space)", "", () => player.toggle(), "pl-play");
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "slider",
      "aria-label": "Event of the allocator",
      "aria-valuemin": 0,
    });
    this.where = h("span.pl-where");
    this.node = h("span.pl-totals");
    const height = h(
      "select",
      {
        "aria-label": "Height of the bars",
        onchange: (/** @type {any} */ e) => {
          this.height = e.target.value;
          this.panel.invalidate();
        },
      },
      ...HEIGHTS.map(([v, t]) => h("option", { value: v }, t)),
    );
    this.speed = h(
      "select",
      {
        "aria-label": "Playing speed (< and >)",
        onchange: (/** @type {any} */ e) => player.setSpeed(Number(e.target.value)),
      },
      ...FILM_SPEEDS.map((v) => h("option", { value: v }, `${v}×`)),
    );
    const stop = (/** @type {number} */ k) => {
      player.stop();
      player.goto(k);
    };
    this.el = h(
      "div.pl-filmbar",
      { role: "group", "aria-label": "Events" },
      h(
        "div.pl-buttons",
        null,
        tool("Nothing allocated (Home)", ICONS.first, () => stop(0)),
        tool("Previous node ([)", ICONS.backPass, () => player.nodeBy(-1)),
        tool("Previous event (←)", ICONS.back, () => player.eventBy(-1)),
        this.play,
        tool("Next event (→)", ICONS.next, () => player.eventBy(1)),
        tool("Next node (])", ICONS.nextPass, () => player.nodeBy(1)),
        tool("Last event (End)", ICONS.last, () => stop(Infinity)),
      ),
      h("div.pl-strip", null, this.canvas),
      h("div.pl-state", null, this.where, this.node),
      h("div.pl-selects", null, height, this.speed),
    );
    this.#listen();
    this.observer = new ResizeObserver(() => this.panel.invalidate());
    this.observer.observe(this.canvas);
  }

  dispose() {
    this.observer.disconnect();
  }

  /** What does not move with every frame. */
  renderState() {
    const { playing, speed } = this.panel.player;
    fill(this.play, icon(playing ? ICONS.pause : ICONS.play));
    this.play.setAttribute("aria-label", playing ? "Pause (space)" : "Play (space)");
    this.speed.value = String(speed);
  }

  render() {
    const { reel, player } = this.panel;
    const k = player.at;
    this.el.classList.toggle("pl-none", !reel?.count);
    fill(this.where, h("b", null, k.toLocaleString("en")), `/${player.count.toLocaleString("en")}`);
    const node = reel ? nodeName(reel, reel.nodeAt(k)) : "";
    this.node.textContent = shortName(node, 24) || "before the run";
    this.node.title = node;
    this.canvas.setAttribute("aria-valuemax", String(player.count));
    this.canvas.setAttribute("aria-valuenow", String(k));
    if (!player.playing && reel) this.canvas.setAttribute("aria-valuetext", sentence(reel, k));
    drawFilmBars(this);
  }

  /** @param {MouseEvent} e @returns {number} */
  #eventAt(e) {
    const r = this.canvas.getBoundingClientRect();
    const n = this.panel.player.count;
    const t = (e.clientX - r.left) / r.width;
    return t <= 0.002 ? 0 : Math.min(n, Math.max(0, Math.ceil(t * n)));
  }

  #listen() {
    const { canvas, panel } = this;
    const { player } = panel;
    let dragging = false;
    canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      dragging = true;
      player.stop();
      try {
        canvas.setPointerCapture(e.pointerId);
      } catch {
        /* a synthetic pointer cannot be captured */
      }
      player.goto(this.#eventAt(e), { quick: true });
    });
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      const k = this.#eventAt(e);
      if (dragging) player.goto(k, { quick: true });
      else if (k !== this.hover) {
        this.hover = k;
        this.panel.invalidate();
        this.#tell(k, e);
      }
    });
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => {
        dragging = false;
        panel.settled();
      });
    canvas.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.tip.hide();
      this.panel.invalidate();
    });
    let rest = 0;
    canvas.addEventListener(
      "wheel",
      (/** @type {WheelEvent} */ e) => {
        e.preventDefault();
        rest += (Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) / 40;
        const by = Math.trunc(rest);
        rest -= by;
        player.stop();
        if (by) player.goto(player.at + by, { quick: true });
      },
      { passive: false },
    );
  }

  /** @param {number} k @param {MouseEvent} e */
  #tell(k, e) {
    const { reel } = this.panel;
    if (!reel) return;
    const at = { clientX: e.clientX, clientY: this.canvas.getBoundingClientRect().top - 96 };
    const alive = `${bytesText(reel.used[k])} live in ${bytesText(reel.peak[k])}`;
    this.tip.show(
      [
        h("b", null, `${k}  ${k ? reel.kindOf(k) : "before the run"}`),
        h("div", null, sentence(reel, k)),
        h("div.pl-dim", null, alive),
      ],
      at,
      80,
    );
  }
}
