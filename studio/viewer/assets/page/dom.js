// @ts-check
// The only way this component makes elements. Text is always a text node, never markup.

/** @typedef {Node | string | null | false | undefined} Leaf what is empty is left out */
/** @typedef {Leaf | Leaf[]} Child */
/** @typedef {{[listener: `on${string}`]: (event: any) => void, [attribute: string]: any}} Props */

/**
 * @param {string} tag "div.class.other"
 * @param {Props | Child} [first] attributes, or the first child; on… are listeners
 * @param {...Child} children
 * @returns {any}
 */
export function h(tag, first, ...children) {
  const [name, ...classes] = tag.split(".");
  const el = document.createElement(name);
  if (classes.length) el.className = classes.join(" ");
  if (el instanceof HTMLButtonElement) el.setAttribute("type", "button");
  const props = isProps(first) ? first : {};
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && (value !== false || key.startsWith("aria-")))
      el.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : String(value));
  }
  fill(el, isProps(first) ? null : first, ...children);
  return el;
}

/** @param {any} first @returns {first is Props} */
const isProps = (first) =>
  !!first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first);

/** @param {string} label @param {string} text @param {(e: any) => void} act @param {string} [extra] class */
export function button(label, text, act, extra) {
  // Who speaks to the machine says what stands on the button: the name holds it.
  const unsaid = /\w/.test(text) && !` ${label} `.toLowerCase().includes(` ${text} `.toLowerCase());
  const name = unsaid ? `${text}: ${label}` : label;
  const tag = extra ? `button.${extra}` : "button";
  return h(tag, { title: label, "aria-label": name, onclick: act }, text);
}

/** A button that is an icon. @param {string} label @param {string} path @param {() => void} act */
export const iconButton = (label, path, act) =>
  h("button", { title: label, "aria-label": label, onclick: act }, icon(path));

/**
 * A list of choices.
 * @param {string} name @param {string[][]} options value and text @param {string} chosen
 * @param {(value: string) => void} pick @param {Props} [props] more attributes
 */
export const select = (name, options, chosen, pick, props = {}) =>
  h(
    "select",
    { "aria-label": name, ...props, onchange: (e) => pick(e.target.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );

/**
 * Choices of which one is pressed.
 * @template {string} T
 * @param {string} name @param {{id: T, text: string, hint: string}[]} choices @param {T} chosen
 * @param {(id: T) => void} pick @param {string} [extra] class
 */
export const segments = (name, choices, chosen, pick, extra = "pl-seg") =>
  h(
    `span.${extra}`,
    { role: "group", "aria-label": name },
    choices.map(({ id, text, hint }) =>
      h("button", { title: hint, "aria-pressed": id === chosen, onclick: () => pick(id) }, text),
    ),
  );

/** A text with code between backticks. @param {string} text @returns {Leaf[]} */
export const prose = (text) =>
  text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", part) : part));

/** @param {string} title @param {...Child} children */
export const section = (title, ...children) => h("section", h("h3", title), ...children);

/** Its name may be a cell of its own. @param {Child[]} cells */
const row = ([name, ...cells]) =>
  h(
    "tr",
    typeof name === "string" ? h("th", { scope: "row" }, name) : name,
    cells.map((cell) => h("td", cell)),
  );

/** Rows with a name each, and heads of the columns. @param {Child[][]} rows @param {string[]} [heads] */
export function table(rows, heads) {
  const body = h("tbody", rows.map(row));
  if (!heads) return h("table", body);
  const cells = heads.map((text) => (text ? h("th", { scope: "col" }, text) : h("td")));
  return h("table", h("thead", h("tr", cells)), body);
}

/** One of two pipelines: A or B. @param {number} side @param {Props} [props] */
export const sideSign = (side, props = {}) =>
  h(`span.pl-side.pl-${side ? "second" : "first"}`, props, side ? "B" : "A");

/** A square of a colour. @param {string} [colour] */
export function swatch(colour) {
  const el = h("i.pl-swatch");
  if (colour) el.style.background = colour;
  return el;
}

/** Replace the children of an element. @param {Element} el @param {...Child} children */
export function fill(el, ...children) {
  const there = children.flat().filter((child) => !!child);
  el.replaceChildren(.../** @type {(Node | string)[]} */ (there));
}

/** An icon drawn with lines: path data in a 16 px box. @param {string} d */
export function icon(d) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(ns, "path");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}
