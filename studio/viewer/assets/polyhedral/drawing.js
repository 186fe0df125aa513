// @ts-check
// All stages side by side as one picture, at one moment of their order.

import { make, writable } from "../canvas/svg-context.js";
import { Panel } from "./panel.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("../page/theme.js").Theme} Theme */

const GAP = 26;
const CATEGORIES = ["conv", "elem", "norm"]; // told apart by the colour-blind

export class Drawing {
  /** @param {Points} points @param {Theme} theme */
  constructor(points, theme) {
    this.points = points;
    const svg = make(document.createElement("div"), "svg", { role: "img" });
    make(svg, "title", {}).textContent = writable(`Order of the points: ${points.title}`);
    const ground = make(svg, "rect", { fill: theme.bg });
    let x = 0;
    this.panels = points.stages.map((stage, number) => {
      const colour = theme.category(CATEGORIES[number % CATEGORIES.length]).solid;
      const panel = new Panel(svg, stage, x, theme, colour);
      x += panel.width + GAP;
      return panel;
    });
    for (const { stage, cells } of points.ticks) this.panels[stage].addDots(cells);
    this.panels.forEach((panel, number) => {
      const own = points.arrows.filter(
        ({ stages }) => stages[0] === number && stages[1] === number,
      );
      panel.addStill(own.map(({ cells }) => cells));
    });
    const width = Math.max(1, x - GAP);
    const height = Math.max(1, ...this.panels.map((panel) => panel.height));
    for (const [name, value] of Object.entries({ width, height })) {
      svg.setAttribute(name, String(value));
      ground.setAttribute(name, String(value));
    }
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", theme.font);
    this.el = svg;
    /** @type {Map<string, [number, string][]>} what a point reads */
    this.read = new Map();
    for (const { stages, cells } of points.arrows) {
      const key = `${stages[1]}:${cells[1]}`;
      const known = this.read.get(key);
      if (known) known.push([stages[0], String(cells[0])]);
      else this.read.set(key, [[stages[0], String(cells[0])]]);
    }
  }

  /** Draw the moment in which a tick runs. @param {number} at the number of the tick */
  show(at) {
    const { ticks } = this.points;
    /** @type {Map<string, number>[]} */ const counts = this.panels.map(() => new Map());
    /** @type {Cell[][][]} */ const ways = this.panels.map(() => []);
    for (const { stage, cells } of ticks.slice(0, at + 1)) {
      ways[stage].push(cells);
      for (const cell of cells)
        counts[stage].set(String(cell), (counts[stage].get(String(cell)) ?? 0) + 1);
    }
    const now = ticks[at];
    const needed = this.#needed(now);
    this.panels.forEach((panel, number) => {
      const own = now?.stage === number ? now.cells : [];
      panel.show(counts[number], ways[number], own, needed[number]);
    });
  }

  /** Points of each stage whose values are read now. @param {import("./types.js").Tick | undefined} now */
  #needed(now) {
    /** @type {Set<string>[]} */ const found = this.panels.map(() => new Set());
    for (const cell of now?.cells ?? [])
      for (const [stage, key] of this.read.get(`${now?.stage}:${cell}`) ?? [])
        found[stage].add(key);
    return found;
  }
}
