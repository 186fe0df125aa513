// @ts-check
// One quiet tooltip for canvases: what is under the pointer, in full, beside what it explains.

import { fill, h } from "../page/dom.js";
import { counted } from "../page/numbers.js";

const DELAY_MS = 280;
const GAP = 8; // between the tip and what it explains
const EDGE = 8; // between the tip and the window

/** @typedef {{left: number, top: number, right: number, bottom: number}} Rect in the window's pixels */
/** @typedef {"below" | "above" | "right" | "left"} Side */

export class Tooltip {
  constructor() {
    this.el = h("div.pl-tip", { role: "tooltip", hidden: true });
    this.timer = 0;
  }

  /**
   * @param {import("../page/dom.js").Leaf[]} content
   * @param {{clientX: number, clientY: number}} at
   * @param {{delay?: number, around?: Rect, side?: Side}} [how] what it must not cover, and on which
   *   side of it it stands if there is room
   */
  show(content, at, { delay = DELAY_MS, around, side = "below" } = {}) {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(
      () => {
        fill(this.el, content);
        this.el.hidden = false;
        const spot = around ?? pointerRect(at);
        const { x, y } = beside(this.el.getBoundingClientRect(), at, spot, side);
        this.el.style.left = `${x}px`;
        this.el.style.top = `${y}px`;
      },
      this.el.hidden ? delay : 0,
    );
  }

  hide() {
    window.clearTimeout(this.timer);
    this.el.hidden = true;
  }

  /**
   * @param {Session | null} s @param {Box | null} box
   * @param {MouseEvent | null} event @param {Which} which
   * @param {{number?: string, around?: Rect}} [more] number: of an overlay, around: the box
   */
  node(s, box, event, which, { number = "", around } = {}) {
    if (!s || !box || !event) {
      this.hide();
      return;
    }
    const about = box.group ? aboutGroup(s, box, box.group, which) : aboutNode(box.rec);
    this.show([...about, number && h("div", number)], event, { around });
  }
}

/** @param {Session} s @param {Box} box @param {Group} group @param {Which} which */
function aboutGroup(s, box, { name, at }, which) {
  const nodes = counted(s.tally[which][at], "node");
  const way = box.kind === "open" ? "close" : "open";
  return [
    h("b", name),
    h("div", [nodes, s.changeText(at)].filter(Boolean).join(", ")),
    h("div.pl-dim", `Click for what happened in it, double click to ${way} it`),
  ];
}

/** @param {NodeRecord | null} rec */
function aboutNode(rec) {
  if (!rec) return [];
  const io = rec.cat === "io";
  const out = rec.out?.[0];
  return [
    h("b", io ? rec.name : rec.op),
    rec.brief && h("span", ` ${rec.brief}`),
    h("div.pl-dim", rec.name),
    ...(rec.rows ?? []).map((row) => h("div", row)),
    out && !io && h("div", `→ ${out[2]} ${out[3]}`),
  ];
}

/** The pointer's own arrow hides what is under it. @param {{clientX: number, clientY: number}} at */
const pointerRect = ({ clientX: x, clientY: y }) => ({
  left: x - 2,
  top: y - 2,
  right: x + 10,
  bottom: y + 12,
});

/**
 * Where a tip goes: on the wanted side, else on the first other one with room.
 * @param {{width: number, height: number}} tip
 * @param {{clientX: number, clientY: number}} at
 * @param {Rect} spot
 * @param {Side} wanted
 */
function beside({ width, height }, at, spot, wanted) {
  const wide = window.innerWidth - EDGE,
    tall = window.innerHeight - EDGE;
  const x = Math.max(EDGE, Math.min(at.clientX - 12, wide - width));
  const y = Math.max(EDGE, Math.min(at.clientY - 12, tall - height));
  /** @type {Record<Side, {x: number, y: number, fits: boolean}>} */
  const places = {
    below: { x, y: spot.bottom + GAP, fits: spot.bottom + GAP + height <= tall },
    above: { x, y: spot.top - GAP - height, fits: spot.top - GAP - height >= EDGE },
    right: { x: spot.right + GAP, y, fits: spot.right + GAP + width <= wide },
    left: { x: spot.left - GAP - width, y, fits: spot.left - GAP - width >= EDGE },
  };
  const order = [places[wanted], places.below, places.above, places.right, places.left];
  return order.find((place) => place.fits) ?? { x, y: tall - height };
}
