// @ts-check
// The pipeline as a file: saved with options and vetoes, opened again, here or elsewhere.

import { button, h } from "../page/dom.js";
import { openFile, save } from "../page/files.js";

/** @param {Context} context @param {() => void} redraw */
export function pipelineFile({ state, actions }, redraw) {
  const url = state.data?.pipeline?.file;
  if (!url) return null;
  const trouble = (/** @type {string} */ why) => {
    told = why;
    redraw();
  };
  const write = async () => {
    const response = await fetch(new URL(url, document.baseURI));
    const text = await response.text();
    if (!response.ok) return trouble(text);
    save("pipeline.json", text);
    actions.say("The pipeline was saved as pipeline.json.");
  };
  const read = () =>
    openFile("pipeline", (text, name) => actions.send("pipeline", { file: [name, text] }), trouble);
  const shown = told;
  told = "";
  return h(
    "span.pl-files",
    button("Save this pipeline as a file: passes, options, vetoes", "Save", write),
    button("Open a pipeline from a file", "Open", read),
    shown && h("span.pl-failed", { role: "alert" }, shown),
  );
}

/** What went wrong, until the next drawing. */
let told = "";
