// @ts-check
// The canvas of the lanes, and what the pointer finds on it.

import { HEAD, makeScale } from "./scale.js";
import { bytesText, timesText } from "../page/numbers.js";
import { drawLanes } from "./draw-lanes.js";
import { h } from "../page/dom.js";
import { nodeName } from "./words.js";
import { measureText, penOf } from "../canvas/pen.js";
import { Metrics } from "../layout/metrics.js";
import { NAIVE } from "./events.js";

/** @typedef {import("./draw-lanes.js").Hit} Hit */

const BESIDE = 12; // pixels left and right of the axis

export class LaneCanvas {
  /** @param {FilmPanel} panel @param {Tooltip} tip */
  constructor(panel, tip) {
    this.panel = panel;
    this.tip = tip;
    this.canvas = h("canvas", {
      role: "img",
      "aria-label": "Addresses that naive, lazy and best use, on one axis",
    });
    this.el = h("div.pl-lanes", this.canvas);
    /** @type {Hit[]} */ this.hits = [];
    /** @type {import("./scale.js").Scale | null} */ this.scale = null;
    /** @type {{family: string, of: Metrics} | null} */ this.metrics = null;
    this.hover = -1;
    this.width = 0;
    this.height = 0;
    this.#listen();
    this.observer = new ResizeObserver(() => panel.invalidate());
    this.observer.observe(this.el);
  }

  dispose() {
    this.observer.disconnect();
  }

  /** @param {number} now */
  draw(now) {
    const { events, player, state } = this.panel;
    const { theme } = state;
    if (!events || !player.replay || !theme) return;
    this.width = Math.max(1, Math.floor(this.el.clientWidth - 2 * BESIDE));
    this.height = Math.max(1, Math.floor(this.el.clientHeight));
    if (this.metrics?.family !== theme.font)
      this.metrics = { family: theme.font, of: new Metrics({ text: measureText }, theme.font) };
    this.scale = makeScale(
      events.json.lanes.map((lane) => lane.peak),
      this.width,
    );
    this.hits = drawLanes({
      c: penOf(this.canvas, this.width, this.height, { fixed: true }),
      width: this.width,
      height: this.height,
      theme,
      metrics: this.metrics.of,
      events,
      replay: player.replay,
      scale: this.scale,
      moment: player.moment(now),
      hover: this.hover,
    });
  }

  /** @param {MouseEvent} e */
  #place(e) {
    const r = this.canvas.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  }

  /** @param {MouseEvent} e the block that was drawn last there */
  #under(e) {
    const { x, y } = this.#place(e);
    return this.hits.findLast(
      (hit) => x >= hit.x && x <= hit.x + hit.w && y >= hit.y && y <= hit.y + hit.h,
    );
  }

  #listen() {
    const { canvas, panel } = this;
    canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      const hit = this.#under(e);
      canvas.style.cursor = hit ? "pointer" : "default";
      if ((hit?.buffer ?? -1) !== this.hover) {
        this.hover = hit?.buffer ?? -1;
        panel.invalidate();
      }
      if (hit) this.tip.show(this.#tell(hit), e);
      else this.#explain(e);
    });
    canvas.addEventListener("pointerleave", () => {
      this.hover = -1;
      this.tip.hide();
      panel.invalidate();
    });
    canvas.addEventListener("click", (/** @type {MouseEvent} */ e) => {
      const { events } = panel;
      const hit = this.#under(e);
      if (!events || !hit) return;
      const node = events.maker(hit.buffer)?.[0];
      if (node) panel.actions.select(node, { reveal: true });
    });
  }

  /** What a block is. @param {Hit} hit */
  #tell({ buffer: b, lane }) {
    const events = /** @type {AllocatorEvents} */ (this.panel.events);
    const { name, node, type, values } = events.json.buffers;
    const from = events.offsets[lane][b];
    const last = nodeName(events, events.end[b] - 1);
    const shared = values[b] > 1 ? [h("div", `${values[b]} values share it`)] : [];
    return [
      h("b", nodeName(events, node[b])),
      h("div.pl-dim", name[b]),
      h("div", [type[b], bytesText(events.size[b])].filter(Boolean).join(" · ")),
      h("div", `at ${bytesText(from)} to ${bytesText(from + events.size[b])}`),
      h("div", `needed until ${last} has run`),
      ...shared,
      h("div.pl-dim", "Click to see the node in the graph"),
    ];
  }

  /** What lies between the blocks. @param {MouseEvent} e */
  #explain(e) {
    const { events } = this.panel;
    const { scale } = this;
    if (!events || !scale) return;
    const { x, y } = this.#place(e);
    const lane = Math.floor((y / (this.height - HEAD)) * events.offsets.length);
    if (lane === NAIVE && scale.broken && x > scale.main - 4) {
      const times = timesText(events.json.lanes[NAIVE].peak / Math.max(1, events.json.bound));
      const squeeze =
        (scale.most - scale.edge) / scale.edge / ((scale.width - scale.main) / scale.main);
      this.tip.show(
        [
          h("b", "The axis breaks here"),
          h("div", `Naive needs ${bytesText(scale.most)}, ${times} the bound.`),
          h(
            "div",
            `On one scale the others would be slivers: what lies beyond the break is drawn ${timesText(squeeze)} narrower.`,
          ),
        ],
        e,
      );
    } else this.tip.hide();
  }
}
