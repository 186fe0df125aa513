// @ts-check
// A quiet note over the graph: what is being done, what the server has to say, or what went wrong.

import { button, fill, h } from "../page/dom.js";

export class Note {
  /** @param {Context} context */
  constructor({ state, actions }) {
    this.actions = actions;
    this.el = h("div.pl-note", { hidden: true });
    state.watch(["data"], () => {
      if (state.data) this.#tell(state.data);
    });
  }

  /** @param {Descriptor} data */
  #tell({ busy, message }) {
    const close = button("Close this note", "×", () => this.#show(false), "pl-x");
    this.#show(!!busy || !!message, message?.kind === "error");
    if (busy) fill(this.el, h("span", busy.text), this.#progress(busy));
    else if (message) fill(this.el, h("span", message.text), close);
  }

  /** @param {NonNullable<Descriptor["busy"]>} busy */
  #progress({ fraction, cancel }) {
    const known = fraction !== null && fraction !== undefined;
    return [
      h("progress", known ? { max: 1, value: fraction } : {}),
      known && h("span.pl-num", `${Math.round(fraction * 100)} %`),
      cancel && button("Cancel", "Cancel", () => this.actions.send("cancel", true)),
    ];
  }

  /** @param {string} text */
  problem(text) {
    this.#show(true, true);
    fill(this.el, h("span", text));
  }

  /** @param {boolean} shown @param {boolean} [bad] */
  #show(shown, bad = false) {
    this.el.hidden = !shown;
    this.el.classList.toggle("pl-bad", bad);
    this.el.setAttribute("role", bad ? "alert" : "status");
  }
}
