// @ts-check
// The drawing one sees as a file: both panes with camera, marks and colours, as SVG or PNG.

import { drawText } from "./pen.js";
import { make, SvgContext, writable } from "./svg-context.js";

const HEAD_H = 30; // of the line above a pane
const GUTTER = 1;
const SHARP = 2; // pixels of a PNG for one of the page
const STEM = 60; // letters of a file's name

/** @typedef {{pane: Pane, x: number, title: string}} Part */

/** The panes from left to right, and how large the whole is. @param {Stage} stage */
function parts(stage) {
  /** @type {Part[]} */
  const list = [];
  let x = 0;
  for (const pane of stage.shown) {
    list.push({ pane, x, title: titleOf(pane.head) });
    x += pane.width + GUTTER;
  }
  const height = HEAD_H + Math.max(...list.map(({ pane }) => pane.height));
  return { list, width: x - GUTTER, height };
}

/** The words of a head; its buttons are no part of the drawing. @param {Element} head */
const titleOf = (head) =>
  [...head.children]
    .filter((el) => !el.matches("button, .pl-seg"))
    .map((el) => el.textContent)
    .join("  ")
    .trim();

/** @param {Stage} stage @param {string} title @returns {Blob} */
function asSvg(stage, title) {
  const theme = /** @type {Theme} */ (stage.theme);
  const { list, width, height } = parts(stage);
  const svg = make(document.createElement("div"), "svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
  });
  make(svg, "title", {}).textContent = writable(title);
  make(svg, "rect", { width, height, fill: theme.border });
  for (const { pane, x, title: words } of list) {
    const head = make(svg, "g", { transform: `translate(${x} 0)` });
    paintHead(/** @type {any} */ (new SvgContext(head)), pane.width, { words, theme });
    const frame = { x, y: HEAD_H, width: pane.width, height: pane.height };
    const view = `0 0 ${pane.width} ${pane.height}`;
    const inner = make(svg, "svg", { ...frame, viewBox: view, overflow: "hidden" });
    pane.paintOn(/** @type {any} */ (new SvgContext(inner)), 1);
  }
  return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
}

/** @param {Stage} stage @returns {Promise<Blob | null>} */
function asPng(stage) {
  const theme = /** @type {Theme} */ (stage.theme);
  const { list, width, height } = parts(stage);
  const whole = canvas(width, height);
  const c = /** @type {CanvasRenderingContext2D} */ (whole.getContext("2d"));
  c.fillStyle = theme.border;
  c.fillRect(0, 0, whole.width, whole.height);
  for (const { pane, x, title } of list) {
    c.setTransform(SHARP, 0, 0, SHARP, x * SHARP, 0);
    paintHead(c, pane.width, { words: title, theme });
    const part = canvas(pane.width, pane.height);
    pane.paintOn(/** @type {CanvasRenderingContext2D} */ (part.getContext("2d")), SHARP);
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(part, x * SHARP, HEAD_H * SHARP);
  }
  return new Promise((done) => whole.toBlob(done, "image/png"));
}

/** @param {number} width @param {number} height */
function canvas(width, height) {
  const el = document.createElement("canvas");
  el.width = width * SHARP;
  el.height = height * SHARP;
  return el;
}

/**
 * @param {CanvasRenderingContext2D} c @param {number} width
 * @param {{words: string, theme: Theme}} what
 */
function paintHead(c, width, { words, theme }) {
  c.fillStyle = theme.bg;
  c.fillRect(0, 0, width, HEAD_H - 1);
  drawText(c, words, 10, HEAD_H / 2, { font: `600 12px ${theme.font}`, colour: theme.text });
}

/**
 * What the drawing is of, as the name of a file without its ending.
 * @param {Session} s
 */
function stemOf(s) {
  const model = s.graph.name.replace(/\.onnx$/i, "").replace(/[^A-Za-z0-9._-]+/g, "-");
  const stem = model.replace(/^[-.]+|[-.]+$/g, "").slice(0, STEM) || "model";
  return `${stem}-${s.label}`;
}

/** @param {Stage} stage @param {"svg" | "png"} kind */
export async function saveDrawing(stage, kind) {
  const { session: s } = stage;
  if (!s || !stage.theme) return;
  stage.draw();
  const stem = stemOf(s);
  const blob = kind === "svg" ? asSvg(stage, stem) : await asPng(stage);
  if (!blob) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${stem}.${kind}`;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
