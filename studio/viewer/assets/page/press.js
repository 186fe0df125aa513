// @ts-check
// A click needs the same element under the pointer from its beginning to its end: what is drawn anew
// meanwhile has lost it.

export class Press {
  /**
   * @param {HTMLElement} el is drawn anew, with what is in it
   * @param {() => void} draw
   */
  constructor(el, draw) {
    this.draw = draw;
    /** whether a pointer is down in it */ this.down = false;
    /** whether it was to be drawn meanwhile */ this.late = false;
    el.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      const list = /** @type {Element} */ (e.target).closest("select");
      if (!list && !e.button && !this.down) this.#hold(); // a list that is open swallows the end
    });
  }

  /** Whether it has to stay as it is; it is drawn when the pointer is up. */
  holds() {
    this.late = this.down;
    return this.down;
  }

  #hold() {
    this.down = true;
    const end = new AbortController();
    const options = { signal: end.signal, capture: true };
    const up = () => {
      end.abort();
      this.down = false;
      setTimeout(() => this.late && this.draw()); // after the click
    };
    for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, up, options);
    addEventListener("pointermove", (e) => e.buttons || up(), options); // it went up elsewhere
  }
}
