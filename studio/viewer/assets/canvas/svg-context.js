// @ts-check
// A drawing context that writes SVG: what the viewer asks of a canvas, and no more. Text stays text.

import { measureText } from "./pen.js";

const SVG = "http://www.w3.org/2000/svg";
const ROUND = Math.PI * 2;
const ANCHORS = new Map([
  ["center", "middle"],
  ["right", "end"],
]);

/** @typedef {[number, number, number, number, number, number]} Matrix */

export class SvgContext {
  /** @param {SVGElement} target elements are appended to it */
  constructor(target) {
    this.target = target;
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.lineJoin = "miter";
    this.lineCap = "butt";
    this.globalAlpha = 1;
    this.font = "10px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    /** @type {number[]} */ this.dash = [];
    /** @type {Matrix} */ this.matrix = [1, 0, 0, 1, 0, 0];
    /** @type {string[]} */ this.path = [];
    /** @type {any[]} */ this.saved = [];
    this.clips = 0;
    this.x = 0;
    this.y = 0;
  }

  /** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} e @param {number} f */
  setTransform(a, b, c, d, e, f) {
    this.matrix = [a, b, c, d, e, f];
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    const [a, b, c, d, e, f] = this.matrix;
    this.matrix = [a, b, c, d, e + a * x + c * y, f + b * x + d * y];
  }

  save() {
    const { path, saved, ...state } = this;
    this.saved.push({ ...state, dash: [...this.dash] });
  }

  restore() {
    const { clips } = this;
    Object.assign(this, this.saved.pop(), { clips });
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = [];
  }

  closePath() {
    this.path.push("Z");
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.#go("M", x, y);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.#go(this.path.length ? "L" : "M", x, y);
  }

  /** @param {string} letter @param {...number} at */
  #go(letter, ...at) {
    this.path.push(letter + at.map(short).join(" "));
    [this.x, this.y] = at.slice(-2);
  }

  /** @param {...number} at */
  bezierCurveTo(...at) {
    this.#go("C", ...at);
  }

  /** @param {...number} at */
  quadraticCurveTo(...at) {
    this.#go("Q", ...at);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.moveTo(x, y);
    this.lineTo(x + w, y);
    this.lineTo(x + w, y + h);
    this.lineTo(x, y + h);
    this.closePath();
  }

  /** @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to */
  arc(x, y, r, from, to) {
    const end = Math.min(to, from + ROUND);
    this.lineTo(x + r * Math.cos(from), y + r * Math.sin(from));
    for (const t of [(from + end) / 2, end])
      this.#round(r, x + r * Math.cos(t), y + r * Math.sin(t), 1);
  }

  /** @param {number} r @param {number} x @param {number} y @param {0 | 1} sweep */
  #round(r, x, y, sweep) {
    this.path.push(`A${short(r)} ${short(r)} 0 0 ${sweep} ${short(x)} ${short(y)}`);
    [this.x, this.y] = [x, y];
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {number} r */
  arcTo(x1, y1, x2, y2, r) {
    const [ax, ay] = unit(this.x - x1, this.y - y1);
    const [bx, by] = unit(x2 - x1, y2 - y1);
    const cross = ax * by - ay * bx;
    const half = Math.acos(Math.max(-1, Math.min(1, ax * bx + ay * by))) / 2;
    const reach = r / Math.tan(half);
    if (Math.abs(cross) < 1e-6 || !Number.isFinite(reach)) {
      this.lineTo(x1, y1);
      return;
    }
    this.lineTo(x1 + ax * reach, y1 + ay * reach);
    this.#round(r, x1 + bx * reach, y1 + by * reach, cross < 0 ? 1 : 0);
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number | number[]} radius */
  roundRect(x, y, w, h, radius) {
    const most = Math.min(w, h) / 2;
    const all = Array.isArray(radius) ? radius : [radius, radius, radius, radius];
    const [nw, ne, se, sw] = all.map((r) => Math.max(0, Math.min(r, most)));
    const [right, low] = [x + w, y + h];
    this.moveTo(x + nw, y);
    for (const [r, fromX, fromY, toX, toY] of [
      [ne, right - ne, y, right, y + ne],
      [se, right, low - se, right - se, low],
      [sw, x + sw, low, x, low - sw],
      [nw, x, y + nw, x + nw, y],
    ]) {
      this.lineTo(fromX, fromY);
      if (r) this.#round(r, toX, toY, 1);
    }
    this.closePath();
  }

  /** From now on nothing is drawn outside the path, until it is restored. */
  clip() {
    const id = `clip${this.clips++}`;
    const clip = make(this.target, "clipPath", { id });
    make(clip, "path", { d: this.path.join(""), transform: this.#transform() });
    this.target = make(this.target, "g", { "clip-path": `url(#${id})` });
  }

  fill() {
    this.#emit("path", { d: this.path.join(""), ...this.#filled() });
  }

  stroke() {
    if (this.path.length)
      this.#emit("path", { d: this.path.join(""), fill: "none", ...this.#stroked() });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.#emit("rect", { x, y, width, height, ...this.#filled() });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.#emit("rect", { x, y, width, height, fill: "none", ...this.#stroked() });
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const [, weight, size, family] = /^(\d+)?\s*([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const el = this.#emit("text", {
      x,
      y,
      ...this.#filled(),
      "font-family": family ?? "sans-serif",
      "font-size": size ?? "10",
      "font-weight": weight ?? "400",
      "text-anchor": ANCHORS.get(this.textAlign) ?? "start",
      "dominant-baseline": this.textBaseline === "middle" ? "central" : "auto",
      // As wide as here, whatever fonts there are where it is opened.
      textLength: measureText(text, this.font),
      lengthAdjust: "spacingAndGlyphs",
    });
    el.textContent = writable(text);
  }

  /** @param {string} name @param {Record<string, string | number>} attributes */
  #emit(name, attributes) {
    return make(this.target, name, { ...attributes, transform: this.#transform() });
  }

  #transform() {
    return `matrix(${this.matrix.map((v) => Number(v.toFixed(4))).join(" ")})`;
  }

  #filled() {
    return { fill: hex(this.fillStyle), "fill-opacity": short(this.globalAlpha) };
  }

  #stroked() {
    return {
      stroke: hex(this.strokeStyle),
      "stroke-opacity": short(this.globalAlpha),
      "stroke-width": short(this.lineWidth),
      "stroke-linejoin": this.lineJoin,
      "stroke-linecap": this.lineCap,
      ...(this.dash.length ? { "stroke-dasharray": this.dash.join(" ") } : {}),
    };
  }
}

/** @param {Element} parent @param {string} name @param {Record<string, string | number>} attributes */
export function make(parent, name, attributes) {
  const el = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes))
    el.setAttribute(key, typeof value === "number" ? short(value) : value);
  parent.append(el);
  return el;
}

/** @param {number} v */
const short = (v) => String(Number(v.toFixed(2)));

/** @param {number} x @param {number} y */
const unit = (x, y) => {
  const size = Math.hypot(x, y) || 1;
  return [x / size, y / size];
};

/** Other programs read "#1f2430", not "rgb(31 36 48)". @param {any} colour */
function hex(colour) {
  const rgb = /^rgb\((\d+) (\d+) (\d+)\)$/.exec(String(colour));
  if (!rgb) return String(colour);
  return `#${rgb
    .slice(1)
    .map((v) => Number(v).toString(16).padStart(2, "0"))
    .join("")}`;
}

/** Without what XML has no place for. @param {string} text */
export const writable = (text) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML does not allow
  text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ");
