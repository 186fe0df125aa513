// @ts-check
// Points of a nest in the order in which they run: what Streamlit calls, again on every change.

import { PointsView } from "./polyhedral/points-view.js";

/** @typedef {import("./polyhedral/types.js").PointsComponent} PointsComponent */

/** @type {WeakMap<object, {view: PointsView, cleanup: () => void}>} */
const views = new WeakMap();

/** @type {Promise<CSSStyleSheet[]> | null} */
let sheets = null;

/** Those of the viewer, and what only this drawing has. */
function styles() {
  sheets ??= Promise.all(
    ["./viewer.css", "./polyhedral/polyhedral.css"].map(async (name) => {
      const response = await fetch(new URL(name, import.meta.url));
      return new CSSStyleSheet().replace(await response.text());
    }),
  );
  return sheets;
}

/** @param {PointsComponent} component */
export default async function polyhedral(component) {
  const parent = component.parentElement;
  const ready = await styles();
  let known = views.get(parent);
  if (!known) {
    const scope = parent.getRootNode();
    scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, ...ready];
    const view = new PointsView(parent.querySelector("[data-passlens-points]"));
    // Streamlit also runs the cleanup of a call that a later one has overtaken: then the parent is
    // still in the document.
    const cleanup = () => {
      window.setTimeout(() => {
        if (parent.isConnected) return;
        view.dispose();
        views.delete(parent);
      });
    };
    known = { view, cleanup };
    views.set(parent, known);
  }
  known.view.update(component.data);
  return known.cleanup;
}
