// @ts-check
// The page Schedule: what Streamlit calls, again on every change of data or theme.

import { fill, h } from "./page/dom.js";

/** @param {any} component */
export default function schedule(component) {
  const home = component.parentElement.querySelector("[data-passlens-schedule]");
  const lines = component.data.view?.steps.at(-1).nodes ?? [];
  fill(
    home,
    h("h2", component.data.subject.title),
    lines.map((/** @type {any} */ node) =>
      h("div", `${"  ".repeat(node.depth)}${node.kind} ${node.func} ${node.loop} ${node.extent}`),
    ),
  );
}
