// @ts-check
// What Streamlit calls: again on every change of data or theme, with the same parent element. And
// what the page itself calls before there is a Streamlit.

import { claim, draw } from "./app/first-picture.js";
import { Viewer } from "./app/viewer.js";

/** @type {WeakMap<object, Viewer>} */
const instances = new WeakMap();

/** @type {Promise<CSSStyleSheet | null> | null} */
let sheet = null;

/** @returns {Promise<CSSStyleSheet | null>} */
function loadStyles() {
  sheet ??= fetch(new URL("./viewer.css", import.meta.url))
    .then((r) => r.text())
    .then((text) => new CSSStyleSheet().replace(text))
    .catch(() => null);
  return sheet;
}

/** @param {import("./app/first-picture.js").Opening} opening */
export function drawFirst(opening) {
  return draw(opening, loadStyles);
}

/**
 * @param {Component} component
 * @returns {() => void} always the same for one parent: only the last one returned is run, at unmount
 */
export default function passlens(component) {
  const parent = component.parentElement;
  let viewer = instances.get(parent);
  if (!viewer) {
    const made = claim(component) ?? new Viewer(parent, loadStyles);
    // Streamlit also runs the cleanup of a call that a later one has overtaken: then the parent
    // is still in the document, and so is its viewer.
    made.cleanup = () => {
      window.setTimeout(() => {
        if (parent.isConnected || instances.get(parent) !== made) return;
        made.dispose();
        instances.delete(parent);
      });
    };
    instances.set(parent, made);
    viewer = made;
  }
  viewer.update(component);
  return viewer.cleanup;
}
