// @ts-check
// Colours from Streamlit's custom properties, read anew on every call: light and dark are its
// choice.

/** @typedef {[number, number, number]} Rgb */

/**
 * Muted, alike in lightness, told apart by the colour-blind; every category has a glyph as well.
 */
const CATEGORIES = {
  conv: "#3f78b5",
  norm: "#1c8c86",
  act: "#c9603c",
  pool: "#7d8436",
  shape: "#737d89",
  elem: "#a98545",
  attn: "#8362b8",
  control: "#bb5c8c",
  quant: "#8d6346",
  io: "#6b7480",
  unknown: "#5d6570",
};

const FAMILIES = {
  node: "#5b8fc9",
  block: "#d07f3e",
  dataflow: "#3a9d8f",
  layout: "#a06cc4",
  precision: "#c25b7e",
  structure: "#8a8f3c",
  kernels: "#4f9e5b",
  memory: "#9c7a5b",
  imported: "#7d8894",
  quantization: "#8d6346",
};

/**
 * Of what has no order: P. Tol's "muted", told apart by the colour-blind; neighbours in the list are
 * the least alike, the last one is for all others together.
 */
const PALETTE = [
  "#88ccee",
  "#cc6677",
  "#117733",
  "#ddcc77",
  "#332288",
  "#aa4499",
  "#44aa99",
  "#882255",
  "#999933",
  "#8a8f98",
];
/** How many colours there are but for that last one. */
export const COLOURS = PALETTE.length - 1;

/** @type {Rgb} */
const HEAT = [226, 104, 44];

const SPARE = ["#5b8fc9", "#d07f3e", "#3a9d8f", "#a06cc4", "#c25b7e", "#8a8f3c", "#7d8894"];

/** @typedef {ReturnType<typeof readTheme>} Theme */

/** @param {Element} host */
export function readTheme(host) {
  const style = getComputedStyle(host);
  const get = (/** @type {string} */ name, /** @type {string} */ fallback) =>
    style.getPropertyValue(`--st-${name}`).trim() || fallback;
  const bg = parse(get("background-color", "#ffffff"), [255, 255, 255]);
  const text = parse(get("text-color", "#1f2430"), [31, 36, 48]);
  const dark = luminance(bg) < 0.4;
  const panel = parse(get("secondary-background-color", dark ? "#1b2028" : "#f4f5f7"), bg);
  const primary = parse(get("primary-color", "#3465d9"), [52, 101, 217]);
  /** @type {Map<string, {solid: string, tint: string, edge: string}>} */
  const cats = new Map();
  for (const [name, hex] of Object.entries(CATEGORIES)) {
    const c = parse(hex, text);
    const solid = dark ? mix(c, [255, 255, 255], 0.12) : c;
    cats.set(name, {
      solid: css(solid),
      tint: css(mix(bg, solid, dark ? 0.24 : 0.13)),
      edge: css(mix(bg, solid, dark ? 0.7 : 0.6)),
    });
  }
  const palette = PALETTE.map((hex) => {
    const c = parse(hex, text);
    const solid = dark ? mix(c, [255, 255, 255], 0.25) : c;
    return {
      solid: css(solid),
      tint: css(mix(bg, solid, 0.4)),
      edge: css(mix(solid, text, 0.25)),
    };
  });
  const unknown = /** @type {{solid: string, tint: string, edge: string}} */ (cats.get("unknown"));
  const families = new Map(Object.entries(FAMILIES));
  return {
    dark,
    font: get("font", "system-ui, sans-serif").replace(/"/g, "'"),
    /** fills of open groups, by depth */
    nest: [css(mix(bg, text, dark ? 0.055 : 0.04)), css(mix(bg, text, dark ? 0.02 : 0.012))],
    /** behind a title */
    patch: css(mix(bg, text, dark ? 0.04 : 0.026)),
    bg: css(bg),
    panel: css(panel),
    text: css(text),
    muted: css(mix(bg, text, 0.68)),
    faint: css(mix(bg, text, 0.38)),
    border: css(parse(get("border-color", ""), mix(bg, text, 0.16))),
    primary: css(primary),
    wire: css(mix(bg, text, dark ? 0.5 : 0.42)),
    add: dark ? "#4cc38a" : "#147a4b",
    remove: dark ? "#f0766b" : "#bd3d35",
    change: dark ? "#e0b04a" : "#8a5f00",
    match: dark ? "#f2c14e" : "#e0a100",
    /** of two pipelines */
    first: dark ? "#f0a35e" : "#b3530a",
    second: dark ? "#b99af5" : "#6b3fc4",
    category: (/** @type {string} */ cat) => cats.get(cat) ?? unknown,
    /** One of `COLOURS`, or that for all others. @param {number} [at] */
    palette: (at = COLOURS) => palette[Math.min(at, COLOURS)],
    /** Fill and border. @param {number} t 0 to 1 */
    intensity: (t) => ({
      tint: css(mix(bg, HEAT, 0.04 + (dark ? 0.66 : 0.8) * t)),
      edge: css(mix(mix(bg, text, 0.25), HEAT, t)),
    }),
    family: (/** @type {string} */ family) =>
      families.get(family.toLowerCase()) ?? SPARE[hash(family) % SPARE.length],
  };
}

const PROPERTIES = /** @type {(keyof Theme)[]} */ (
  "bg panel text muted faint border primary first second add remove change match font".split(" ")
);

/** Give the style sheet the colours of a theme. @param {HTMLElement} root @param {Theme} theme */
export function applyColours(root, theme) {
  for (const name of PROPERTIES) root.style.setProperty(`--pl-${name}`, String(theme[name]));
  root.classList.toggle("pl-dark", theme.dark);
}

/** @param {string} text @param {Rgb} fallback @returns {Rgb} */
function parse(text, fallback) {
  const hex = text.match(/^#([0-9a-f]{3,8})$/i);
  if (hex) {
    const d = hex[1].length < 6 ? [...hex[1].slice(0, 3)].map((c) => c + c).join("") : hex[1];
    return /** @type {Rgb} */ ([0, 2, 4].map((i) => parseInt(d.slice(i, i + 2), 16)));
  }
  const rgb = text.match(/rgba?\(([^)]+)\)/);
  if (!rgb) return fallback;
  const parts = rgb[1]
    .split(/[\s,/]+/)
    .filter(Boolean)
    .map(Number);
  return parts.length >= 4 && parts[3] < 1
    ? mix(fallback, [parts[0], parts[1], parts[2]], Math.max(parts[3], 0.4))
    : [parts[0], parts[1], parts[2]];
}

/** @param {Rgb} a @param {Rgb} b @param {number} t @returns {Rgb} */
function mix(a, b, t) {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/** @param {Rgb} c */
const css = (c) => `rgb(${c.map((v) => Math.round(v)).join(" ")})`;

/** @param {Rgb} c */
const luminance = (c) => (0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]) / 255;

/** @param {string} text */
function hash(text) {
  let v = 7;
  for (let i = 0; i < text.length; i++) v = (v * 31 + text.charCodeAt(i)) >>> 0;
  return v;
}
