// @ts-check
// What passes of other projects need that is not installed, and the line that installs it.

import { button, h } from "../page/dom.js";
import { copyText } from "../page/link.js";

/**
 * @param {PassRecord[]} passes of a family
 * @returns {HTMLElement | null} nothing where nothing is missing
 */
export function installLine(passes) {
  const line = passes.find((p) => p.install)?.install;
  if (!line) return null;
  const names = new Set(passes.filter((p) => p.install).map((p) => p.needs));
  const copy = button(`Copy: ${line}`, "Copy", async () => {
    copy.textContent = (await copyText(line, copy)) ? "Copied" : "Refused";
  });
  return h(
    "div.pl-install",
    `Not installed: ${[...names].join(", ")}`,
    h("div", h("code", line), copy),
  );
}
