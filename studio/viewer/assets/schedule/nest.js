// @ts-check
// The loop nest, drawn as boxes in boxes. Each box is an element that stays as long as the nest has
// it, so that what stays glides, what comes fades in, and nothing jumps.

import { fill, h } from "../page/dom.js";
import { bytesText } from "../page/numbers.js";
import { boxesOf, byKey, changeOf, goneFrom, layOut, RUNS } from "./tree.js";

/** @typedef {import("./tree.js").Box} Box */
/** @typedef {import("./tree.js").Change} Change */
/** @typedef {import("./types.js").NestNode} NestNode */

const MOTION_MS = 320;
const MOST_LANES = 32; // drawn
const WORDS = {
  serial: "for",
  parallel: "parallel",
  vector: "vector",
  unrolled: "unrolled",
  gpu_block: "GPU block",
  gpu_thread: "GPU thread",
};
/** @type {Record<string, string>} how the last round ends */
const TAILS = {
  guard_with_if: "an if before each element",
  predicate: "loads and stores past the end are masked",
  predicate_loads: "loads past the end are masked, stores go past it",
  predicate_stores: "stores past the end are masked, loads go past it",
  shift_inwards: "the last round begins earlier, and computes some elements twice",
  round_up: "the last round goes past the end, and computes what nobody needs",
};
const SIGNS = { added: "+", changed: "~", moved: "↳" };
const HINTS = {
  added: "new in this step",
  changed: "changed in this step; was ",
  moved: "moved in this step; was ",
};

export class NestView {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.list = h("ul.sl-boxes", { "aria-label": "Loop nest", tabindex: 0 });
    this.gone = h("p.sl-gone");
    this.title = h("h2");
    this.el = h(
      "section.sl-nest",
      { "aria-label": "Nest" },
      h("header", this.title, this.gone),
      h("div.sl-scroll", this.list),
    );
    /** @type {Map<string, HTMLElement>} */ this.elements = new Map();
    this.width = 0;
    this.still = false;
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(this.list);
    state.watch(["step"], () => this.render());
  }

  dispose() {
    this.observer.disconnect();
  }

  #resized() {
    const { clientWidth } = this.list;
    if (!clientWidth || clientWidth === this.width) return;
    this.still = true; // what the window did is no change of the nest
    this.render();
    this.still = false;
  }

  render() {
    const { shown, before, step } = this.state;
    if (!shown) return;
    this.width = this.list.clientWidth;
    const boxes = boxesOf(shown.nodes);
    const then = before ? byKey(before.nodes) : null;
    const now = byKey(shown.nodes);
    const { places, height } = layOut(boxes, Math.max(240, this.width));
    this.list.style.height = `${height}px`;
    const kept = new Set(places.keys());
    const old = new Map([...this.elements].map(([key, el]) => [key, standing(el)]));
    for (const [key, el] of this.elements) if (!kept.has(key)) this.#remove(key, el);
    boxes.forEach((box, at) => {
      const change = then ? changeOf(box, then, now) : { mark: /** @type {const} */ (""), was: "" };
      this.#place(box, places.get(box.key), change, at);
      this.#move(box.key, old.get(box.key));
    });
    fill(this.title, step ? `After primitive ${step}` : "Before the first primitive");
    const gone = then ? goneFrom(then, now) : [];
    fill(this.gone, gone.length ? [h("span.sl-sign", "−"), `gone: ${gone.join(", ")}`] : null);
  }

  /** @param {Box} box @param {any} place @param {Change} change @param {number} at in the order of the text */
  #place(box, { x, y, w, h: tall }, change, at) {
    const known = this.elements.get(box.key);
    const el = known ?? this.#made(box.key);
    const { node } = box;
    el.className = classesOf(node, change);
    const lanes = Math.min(MOST_LANES, Math.max(1, node.extent));
    el.style.cssText = `left:${x}px;top:${y}px;width:${w}px;height:${tall}px;--sl-lanes:${lanes};z-index:${node.depth}`;
    this.#colour(el, node.func);
    fill(el, rowOf(node, change, this.state.data?.subject.funcs ?? []));
    if (this.list.children[at] !== el) this.list.insertBefore(el, this.list.children[at] ?? null);
  }

  /** From where it stood, or out of nothing. @param {string} key @param {Keyframe | undefined} from */
  #move(key, from) {
    const el = /** @type {HTMLElement} */ (this.elements.get(key));
    for (const animation of el.getAnimations()) animation.cancel();
    if (!this.state.motion || this.still) return;
    const to = standing(el);
    if (from && JSON.stringify(from) === JSON.stringify(to)) return;
    const frames = from ? [from, to] : [{ opacity: 0 }, { opacity: 1 }];
    el.animate(frames, { duration: MOTION_MS, easing: "ease-out" });
  }

  /** @param {string} key */
  #made(key) {
    const el = h("li");
    this.elements.set(key, el);
    return el;
  }

  /** @param {HTMLElement} el @param {string} func */
  #colour(el, func) {
    const { data, theme } = this.state;
    const at = data?.subject.funcs.findIndex(({ name }) => name === func) ?? -1;
    const { solid, tint, edge } = funcColour(theme, at);
    el.style.setProperty("--sl-solid", solid);
    el.style.setProperty("--sl-tint", tint);
    el.style.setProperty("--sl-edge", edge);
  }

  /** @param {string} key @param {HTMLElement} el */
  #remove(key, el) {
    this.elements.delete(key);
    el.remove();
  }
}

/** Where an element stands now, also while it moves. @param {HTMLElement} el @returns {Keyframe} */
const standing = ({ offsetLeft, offsetTop, offsetWidth, offsetHeight }) => ({
  left: `${offsetLeft}px`,
  top: `${offsetTop}px`,
  width: `${offsetWidth}px`,
  height: `${offsetHeight}px`,
});

const CATEGORIES = ["conv", "act", "norm", "attn", "pool", "control", "elem", "quant"];
const SPARE = [2, 7, 0, 3]; // of the palette, for more Funcs than that

/** Of a Func by its place in the algorithm; of what a schedule makes besides, grey. @param {Theme | null} theme @param {number} at */
export function funcColour(theme, at) {
  if (!theme) return { solid: "", tint: "", edge: "" };
  const spare = at - CATEGORIES.length;
  if (spare >= 0) {
    const { solid, edge } = theme.palette(SPARE[spare % SPARE.length]);
    return { solid, edge, tint: `color-mix(in srgb, ${solid} 16%, ${theme.bg})` };
  }
  return theme.category(CATEGORIES[at] ?? "shape");
}

/** @param {NestNode} node @param {Change} change */
function classesOf(node, { mark }) {
  const run = node.kind === "loop" ? ` sl-${node.run}` : "";
  return `sl-box sl-${node.kind}${run}${mark ? ` sl-${mark}` : ""}${node.reduces ? " sl-reduces" : ""}`;
}

/** @param {NestNode} node @param {Change} change @param {import("./types.js").FuncText[]} funcs */
function rowOf(node, change, funcs) {
  const words = { loop: loopRow, compute: computeRow, produce: memoryRow, store: memoryRow }[
    node.kind
  ];
  const parts = [words(node, funcs), markOf(change)].flat().filter((part) => !!part);
  return h(
    "div.sl-row",
    parts.flatMap((part) => [part, " "]),
  );
}

/** @param {Change} change */
function markOf({ mark, was }) {
  if (!mark) return null;
  const hint = `${HINTS[mark]}${was}`;
  return h(
    "span.sl-mark",
    { title: hint },
    h("span", { "aria-hidden": "true" }, SIGNS[mark]),
    h("span.pl-hidden", hint),
    was && h("s", { "aria-hidden": "true" }, was),
  );
}

/** @param {NestNode} node */
function loopRow(node) {
  const most = node.most !== node.extent ? ` (at most ${node.most.toLocaleString("en")})` : "";
  return [
    h("span.sl-run", { title: `rounds run ${RUNS[node.run]}` }, WORDS[node.run]),
    h("b", node.loop),
    h("span.sl-extent", `${node.extent.toLocaleString("en")}${most}`),
    node.reduces &&
      h("span.sl-tag", { title: "rounds combine into the same elements" }, "Σ reduces"),
    node.tail &&
      h(
        "span.sl-tag.sl-tail",
        { title: `the factor does not divide: ${TAILS[node.tail] ?? "the last round is short"}` },
        node.tail.replaceAll("_", " "),
      ),
    node.run === "vector" && h("span.sl-lanes", { title: `${node.extent} lanes` }),
  ];
}

/** @param {NestNode} node @param {import("./types.js").FuncText[]} funcs */
function computeRow(node, funcs) {
  const found = funcs.find(({ name }) => name === node.func);
  const formula = found?.formula ?? `${node.func}(…) = …`;
  const [left] = formula.split(" ", 1);
  const first = found?.reduces.length && node.stage === 0;
  const text = first ? `${formula.slice(0, formula.indexOf(")") + 1)} = first value` : formula;
  return h("code", { title: text, "data-func": left }, text);
}

/** @param {NestNode} node */
function memoryRow(node) {
  const shape = node.shape.map((size) => size.toLocaleString("en")).join(" × ") || "1";
  return [
    h("span.sl-run", node.kind),
    h("b", node.func),
    h("span.sl-extent", shape),
    h("span.sl-bytes", bytesText(node.bytes)),
    node.kind === "store" && h("span.sl-tag", "memory from here on"),
  ];
}
