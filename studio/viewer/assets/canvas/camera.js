// @ts-check
// One camera for both panes, linked by content: the same zoom, the same x, and y carried over by what
// both panes show, so that one node stands at one height in both.

/** @typedef {import("../layout/height-map.js").HeightMap} HeightMap */

const MIN_ZOOM = 0.02;
const MAX_ZOOM = 3;

/**
 * @typedef {{k: number, x: number, y: number}} View zoom, and the world point in the middle of a
 * pane
 */
/** @typedef {View & {slack: number}} Place where the camera is */

export class Camera {
  constructor() {
    this.k = 1;
    this.x = 0;
    /** world height in the middle of the leading pane */
    this.y = 0;
    /** the pane whose coordinates `y` is in: 0 before, 1 after */
    this.lead = 1;
    /** how far the other pane still is from where the map says: at the top, both show their top */
    this.slack = 0;
    /** @type {HeightMap | null} before -> after */
    this.map = null;
    /** @type {{from: Place, to: Place, start: number, ms: number} | null} */
    this.flight = null;
  }

  /** @param {number} pane @returns {View} */
  view(pane) {
    return { k: this.k, x: this.x, y: this.heightIn(pane) };
  }

  /** @param {number} pane */
  heightIn(pane) {
    if (pane === this.lead || !this.map) return this.y;
    return this.slack + this.#mapped(this.y);
  }

  /** From the leading pane to the other. @param {number} y */
  #mapped(y) {
    if (!this.map) return y;
    return this.lead === 0 ? this.map.forward(y) : this.map.backward(y);
  }

  /** Both panes start with their first row. */
  alignTops() {
    this.slack = this.map ? this.y - this.#mapped(this.y) : 0;
  }

  /** @param {number} pane */
  follow(pane) {
    if (pane === this.lead) return;
    const was = this.y;
    this.y = this.heightIn(pane);
    this.lead = pane;
    if (this.slack) this.slack = was - this.#mapped(this.y);
  }

  /** @param {number} pane @param {number} dx @param {number} dy screen pixels */
  pan(pane, dx, dy) {
    this.flight = null;
    this.follow(pane);
    this.x -= dx / this.k;
    this.y -= dy / this.k;
    const less = (Math.abs(dy) / this.k) * 0.6;
    this.slack = Math.sign(this.slack) * Math.max(0, Math.abs(this.slack) - less);
  }

  /**
   * @param {number} pane
   * @param {number} factor
   * @param {number} px
   * @param {number} py from the pane's middle
   */
  zoom(pane, factor, px = 0, py = 0) {
    this.flight = null;
    this.follow(pane);
    const k = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, this.k * factor));
    this.x += px / this.k - px / k;
    this.y += py / this.k - py / k;
    this.k = k;
  }

  /**
   * @param {Partial<View>} to
   * @param {number} ms 0 = at once
   * @param {number} [other] height in the middle of the pane that does not lead; else as the map says
   */
  flyTo(to, ms, other) {
    const { k, x, y, slack } = this;
    const view = { k, x, y, ...to };
    const goal = { ...view, slack: other === undefined ? 0 : other - this.#mapped(view.y) };
    this.flight = ms ? { from: { k, x, y, slack }, to: goal, start: performance.now(), ms } : null;
    if (!ms) Object.assign(this, goal);
  }

  /** @param {number} now @returns {boolean} still moving */
  tick(now) {
    const f = this.flight;
    if (!f) return false;
    const t = Math.min(1, Math.max(0, (now - f.start) / f.ms));
    const e = ease(t);
    this.k = f.from.k * (f.to.k / f.from.k) ** e;
    this.x = f.from.x + (f.to.x - f.from.x) * e;
    this.y = f.from.y + (f.to.y - f.from.y) * e;
    this.slack = f.from.slack + (f.to.slack - f.from.slack) * e;
    if (t >= 1) this.flight = null;
    return this.flight !== null;
  }
}

/** @param {number} t */
export const ease = (t) => 1 - (1 - t) ** 3;
