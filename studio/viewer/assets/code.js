// @ts-check
// Look inside: what Streamlit calls, again on every change of data or theme.

import { CodeView } from "./code/code-view.js";

/** @type {WeakMap<object, CodeView>} */
const views = new WeakMap();

/** @type {Promise<CSSStyleSheet[]> | null} */
let sheets = null;

/** Those of the viewer, and what only this section has. */
function styles() {
  sheets ??= Promise.all(
    ["./viewer.css", "./code/code.css"].map(async (name) => {
      const response = await fetch(new URL(name, import.meta.url));
      return new CSSStyleSheet().replace(await response.text());
    }),
  );
  return sheets;
}

/** @param {import("./code/types.js").CodeComponent} component */
export default async function code(component) {
  const parent = component.parentElement;
  const ready = await styles();
  let view = views.get(parent);
  if (!view) {
    const scope = parent.getRootNode();
    scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, ...ready];
    view = new CodeView(parent.querySelector("[data-passlens-code]"));
    views.set(parent, view);
  }
  view.update(component);
}
