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

/**
 * @param {string} label
 * @param {string} text
 * @param {(e: Event) => void} act
 * @param {string} [extra] class
 */
export function button(label, text, act, extra = "") {
  // Who speaks to the machine says what stands on the button: the name holds it.
  const unsaid = /\w/.test(text) && !` ${label} `.toLowerCase().includes(` ${text} `.toLowerCase());
  const name = unsaid ? `${text}: ${label}` : label;
  const el = h("button", { type: "button", title: label, "aria-label": name, onclick: act }, text);
  if (extra) el.className = extra;
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
