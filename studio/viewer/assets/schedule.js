// @ts-check
// The page Schedule: what Streamlit calls, again on every change of data or theme.

import { Lab } from "./schedule/lab.js";

/** @type {WeakMap<object, {lab: Lab, cleanup: () => void}>} */
const labs = new WeakMap();

/** @type {Promise<CSSStyleSheet[]> | null} */
let sheets = null;

/** Those of the viewer, and what only this page has. */
function styles() {
  sheets ??= Promise.all(
    ["./viewer.css", "./schedule/schedule.css"].map(async (name) => {
      const response = await fetch(new URL(name, import.meta.url));
      return new CSSStyleSheet().replace(await response.text());
    }),
  );
  return sheets;
}

/** @param {import("./schedule/types.js").LabComponent} component */
export default async function schedule(component) {
  const parent = component.parentElement;
  const ready = await styles();
  let known = labs.get(parent);
  if (!known) {
    const scope = parent.getRootNode();
    scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, ...ready];
    const lab = new Lab(parent);
    // Streamlit also runs the cleanup of a call that a later one has overtaken: then the parent is
    // still in the document.
    const cleanup = () => {
      window.setTimeout(() => {
        if (parent.isConnected) return;
        lab.dispose();
        labs.delete(parent);
      });
    };
    known = { lab, cleanup };
    labs.set(parent, known);
  }
  known.lab.update(component);
  return known.cleanup;
}
