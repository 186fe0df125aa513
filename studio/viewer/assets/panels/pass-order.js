// @ts-check
// The passes that are on, in running order: dragged, or moved by the arrow keys.

import { button, h, swatch } from "../page/dom.js";
import { reorderable } from "../page/reorder.js";

export class PassOrder {
  /**
   * @param {Context} context
   * @param {() => void} redraw
   * @param {(value: {order: string[]}) => void} send
   */
  constructor(context, redraw, send) {
    this.state = context.state;
    this.actions = context.actions;
    this.redraw = redraw;
    this.send = send;
    this.on = false;
    /** asked for, not yet answered @type {string[] | null} */ this.wanted = null;
    /** what the server said when it was asked for */ this.before = "";
  }

  /** Ids in running order. */
  get #order() {
    const told = this.state.data?.pipeline?.order ?? [];
    if (this.wanted && told.join() !== this.before) this.wanted = null;
    return this.wanted ?? told;
  }

  /** Between families and running order. */
  toggle() {
    if (!this.state.data?.pipeline?.order) return null;
    const turn = () => {
      this.on = !this.on;
      this.redraw();
    };
    const label = "Show the passes that are on in running order, and move them";
    const toggle = button(label, "Order", turn);
    toggle.setAttribute("aria-pressed", String(this.on));
    toggle.dataset.focus = "order";
    return toggle;
  }

  /** @param {PassRecord[]} list of all passes */
  render(list) {
    const known = new Map(list.map((p) => [p.id, p]));
    const listed = this.#order.flatMap((id) => known.get(id) ?? []);
    const name = "Passes in running order";
    const rows = h("ol.pl-order", { "aria-label": name }, listed.map(this.#row));
    const move = (/** @type {number} */ from, /** @type {number} */ to) =>
      this.#move(listed[from].id, to);
    reorderable(rows, ".pl-pass", move);
    return [
      h(
        "p.pl-signs",
        "They run from top to bottom, again and again until nothing fires. Drag one, or move it with the arrow keys.",
      ),
      rows,
    ];
  }

  /** @param {PassRecord} pass @param {number} place @param {PassRecord[]} all */
  #row = (pass, place, all) => {
    const { id, title, family, fired } = pass;
    const grip = h(
      "button.pl-grip",
      {
        "aria-label": `${title}, ${place + 1} of ${all.length}: move it with the arrow keys`,
        "data-focus": `o:${id}`,
        onkeydown: (/** @type {KeyboardEvent} */ e) => this.#pressed(e, pass, place),
      },
      "⠿",
    );
    return h(
      `li.pl-pass${this.wanted ? ".pl-pending" : ""}`,
      h("span", grip, swatch(this.state.theme?.family(family)), h("span.pl-name", title)),
      h("span.pl-count", fired ? String(fired) : ""),
    );
  };

  /** @param {KeyboardEvent} e @param {PassRecord} pass @param {number} place */
  #pressed(e, { id, title }, place) {
    const by = e.key === "ArrowUp" ? -1 : e.key === "ArrowDown" ? 1 : 0;
    if (!by) return;
    e.preventDefault();
    e.stopPropagation();
    const to = place + by;
    if (to < 0 || to >= this.#order.length) return;
    this.#move(id, to);
    this.actions.say(`${title} is now ${to + 1} of ${this.#order.length}.`);
  }

  /** @param {string} id @param {number} to its place */
  #move(id, to) {
    const order = this.#order.filter((other) => other !== id);
    order.splice(to, 0, id);
    if (order.join() === this.#order.join()) return;
    this.before = (this.state.data?.pipeline?.order ?? []).join();
    this.wanted = order;
    this.send({ order });
    this.redraw();
  }
}
