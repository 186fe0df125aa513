// @ts-check
// The only way this component makes elements. Text is always a text node, never markup.

/**
 * @param {string} tag "div.class.other"
 * @param {Record<string, any> | null} [props] attributes; on… are listeners
 * @param {...(Node | string | null | false | undefined)} children
 * @returns {any}
 */
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  const el = document.createElement(name);
  if (classes.length) el.className = classes.join(" ");
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else el.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === false || child === undefined) continue;
    el.append(typeof child === "string" ? document.createTextNode(child) : child);
  }
  return el;
}

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

/**
 * Replace the children of an element.
 * @param {Element} el
 * @param {...(Node | string | null | false | undefined)} children
 */
export function fill(el, ...children) {
  el.replaceChildren(
    ...children
      .filter((c) => c !== null && c !== false && c !== undefined)
      .map((c) => /** @type {Node | string} */ (c)),
  );
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
