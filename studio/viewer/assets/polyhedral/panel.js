// @ts-check
// One stage: its points, its tiles, which points have run, and the way from one to the next.

import { make, writable } from "../canvas/svg-context.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").DrawnStage} DrawnStage */
/** @typedef {import("../page/theme.js").Theme} Theme */

export const PITCH = 22;
const MARGIN = 40; // for the names of axes and places
const HEAD = 44;
const LETTER = 7.5; // of the line above the points, about
const RADIUS = 5;
const TRAIL = 64; // points of the way that are drawn
const TILE = PITCH / 2 - 2;

export class Panel {
  /**
   * @param {Element} svg @param {DrawnStage} stage @param {number} x @param {Theme} theme
   * @param {string} colour of its points
   */
  constructor(svg, stage, x, theme, colour) {
    this.stage = stage;
    this.beyond = new Set(stage.beyond.map(String));
    this.x = x;
    this.theme = theme;
    this.colour = colour;
    const grid = PITCH * (stage.last[1] - stage.first[1] + 1) + 10;
    const words = LETTER * (stage.name.length + stage.held.length + 2);
    this.width = MARGIN + Math.max(grid, words);
    this.height = HEAD + PITCH * (stage.last[0] - stage.first[0] + 1) + 8;
    const group = make(svg, "g", {});
    this.#words(group);
    this.#tiles(group);
    this.still = make(group, "path", { fill: "none", stroke: theme.faint, "stroke-opacity": 0.55 });
    this.way = make(group, "path", { fill: "none", stroke: colour, "stroke-opacity": 0.45 });
    this.way.setAttribute("stroke-width", "2");
    this.way.setAttribute("stroke-linejoin", "round");
    this.tile = make(group, "rect", { fill: theme.primary, "fill-opacity": 0.1, rx: 7 });
    /** @type {Map<string, SVGElement>} */ this.dots = new Map();
    this.group = group;
    this.now = make(group, "path", { fill: "none", stroke: theme.primary });
    this.now.setAttribute("stroke-width", String(2 * RADIUS + 4));
    this.now.setAttribute("stroke-linecap", "round");
  }

  /** @param {Cell[]} cells all that ever run */
  addDots(cells) {
    for (const cell of cells) {
      const key = String(cell);
      if (this.dots.has(key)) continue;
      const [cx, cy] = this.at(cell);
      const dot = make(this.group, "circle", { cx, cy, r: RADIUS });
      if (this.beyond.has(key)) dot.setAttribute("stroke-dasharray", "2 2");
      this.dots.set(key, dot);
    }
    this.group.append(this.now);
  }

  /** Dependences between its own points. @param {[Cell, Cell][]} pairs */
  addStill(pairs) {
    this.still.setAttribute("d", pairs.map(([from, to]) => this.#between(from, to)).join(""));
  }

  /**
   * @param {Map<string, number>} counts how often each point has run
   * @param {Cell[][]} way what has run, in order
   * @param {Cell[]} now what runs; empty where another stage's turn it is
   * @param {Set<string>} needed points whose values are read now
   */
  show(counts, way, now, needed) {
    const { theme, colour } = this;
    for (const [key, dot] of this.dots) {
      const count = counts.get(key) ?? 0;
      const isRead = needed.has(key);
      const own = this.beyond.has(key) ? theme.faint : colour;
      dot.setAttribute("fill", count ? own : theme.bg);
      dot.setAttribute("stroke", isRead ? theme.add : count > 1 ? theme.change : own);
      dot.setAttribute("stroke-width", isRead || count > 1 ? "3" : "1.25");
      dot.setAttribute("r", String(isRead ? RADIUS + 2 : RADIUS));
    }
    const points = way.slice(-TRAIL).map((cells) => this.at(cells[0]));
    this.way.setAttribute("d", points.map(([x, y], k) => `${k ? "L" : "M"}${x} ${y}`).join(""));
    this.now.setAttribute("d", this.#lanes(now));
    this.#showTile(now.length ? now : (way.at(-1) ?? []));
  }

  /** The middle of a point. @param {Cell} cell @returns {[number, number]} */
  at([row, column]) {
    const { first } = this.stage;
    return [
      this.x + MARGIN + PITCH * (column - first[1]) + PITCH / 2,
      HEAD + PITCH * (row - first[0]) + PITCH / 2,
    ];
  }

  /** One point, or the lanes of a vector. @param {Cell[]} cells */
  #lanes(cells) {
    const last = cells.at(-1);
    if (!last) return "";
    const [[x, y], [right, below]] = [this.at(cells[0]), this.at(last)];
    return `M${x} ${y}L${right + 0.01} ${below}`;
  }

  /** @param {Cell} from @param {Cell} to */
  #between(from, to) {
    const [[x, y], [right, below]] = [this.at(from), this.at(to)];
    const size = Math.hypot(right - x, below - y) || 1;
    const [dx, dy] = [(right - x) / size, (below - y) / size];
    const [ax, ay] = [right - dx * (RADIUS + 2), below - dy * (RADIUS + 2)];
    const wing = (/** @type {number} */ side) =>
      `M${ax} ${ay}L${ax - 5 * dx + side * 3 * dy} ${ay - 5 * dy - side * 3 * dx}`;
    return `M${x + dx * RADIUS} ${y + dy * RADIUS}L${ax} ${ay}${wing(1)}${wing(-1)}`;
  }

  /** The tile of what runs. @param {Cell[]} now */
  #showTile(now) {
    const tile = now.length ? this.stage.tiles.findLast((one) => holds(one, now[0])) : null;
    this.tile.setAttribute("visibility", tile ? "visible" : "hidden");
    if (tile) place(this.tile, this.#box(tile));
  }

  /** @param {[Cell, Cell]} tile */
  #box([first, last]) {
    const [[x, y], [right, below]] = [this.at(first), this.at(last)];
    return { x: x - TILE, y: y - TILE, width: right - x + 2 * TILE, height: below - y + 2 * TILE };
  }

  /** @param {Element} group */
  #tiles(group) {
    const line = { fill: "none", stroke: this.theme.muted, "stroke-opacity": 0.7, rx: 7 };
    for (const tile of this.stage.tiles)
      place(make(group, "rect", { ...line, "stroke-dasharray": "3 3" }), this.#box(tile));
  }

  /** @param {Element} group */
  #words(group) {
    const { stage, theme, x } = this;
    const text = (/** @type {string} */ words, /** @type {Record<string, any>} */ more) => {
      make(group, "text", { fill: theme.muted, "font-size": 11, ...more }).textContent =
        writable(words);
    };
    const left = x + MARGIN;
    text(stage.name, { x: left, y: 13, fill: theme.text, "font-weight": 650, "font-size": 12.5 });
    text(stage.held, { x: left + LETTER * (stage.name.length + 2), y: 13 });
    text(`${stage.axes[1]} →`, { x: left, y: 33, fill: theme.text });
    if (stage.axes[0]) text(`${stage.axes[0]} ↓`, { x, y: HEAD + 14, fill: theme.text });
    for (let at = stage.first[1]; at <= stage.last[1]; at++)
      if (at % 4 === 0 && at > stage.first[1])
        text(String(at), { x: this.at([0, at])[0], y: 33, "text-anchor": "middle" });
    for (let at = stage.first[0]; at <= stage.last[0]; at++)
      if (stage.axes[0] && at % 4 === 0 && at > stage.first[0])
        text(String(at), { x: left - 6, y: this.at([at, 0])[1] + 4, "text-anchor": "end" });
  }
}

/** @param {[Cell, Cell]} tile @param {Cell} cell */
const holds = ([first, last], [row, column]) =>
  row >= first[0] && row <= last[0] && column >= first[1] && column <= last[1];

/** @param {Element} rect @param {Record<string, number>} box */
function place(rect, box) {
  for (const [name, value] of Object.entries(box)) rect.setAttribute(name, String(value));
}
