// @ts-check
// A button that opens a panel beside it, in one parent. Escape, a click elsewhere and leaving them
// close it.

export class Disclosure {
  /**
   * @param {HTMLElement} trigger has aria-expanded
   * @param {HTMLElement} panel
   * @param {() => void} opened
   */
  constructor(trigger, panel, opened) {
    this.trigger = trigger;
    this.panel = panel;
    this.opened = opened;
    this.elsewhere = (/** @type {Event} */ e) => {
      if (!this.#holds(e.composedPath()[0])) this.close();
    };
    this.close();
    trigger.addEventListener("click", () => (panel.hidden ? this.open() : this.close()));
    for (const el of [trigger, panel]) {
      el.addEventListener("keydown", (e) => this.#down(e));
      el.addEventListener("focusout", (e) => {
        if (e.relatedTarget && !this.#holds(e.relatedTarget)) this.close();
      });
    }
  }

  /** @param {any} node */
  #holds(node) {
    return this.trigger.parentElement?.contains(node) ?? false;
  }

  open() {
    this.#show(true);
    document.addEventListener("pointerdown", this.elsewhere, true);
    this.opened();
  }

  close() {
    this.#show(false);
    document.removeEventListener("pointerdown", this.elsewhere, true);
  }

  /** @param {boolean} open */
  #show(open) {
    this.panel.hidden = !open;
    this.trigger.setAttribute("aria-expanded", String(open));
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    if (e.key !== "Escape" || this.panel.hidden) return;
    e.preventDefault();
    e.stopPropagation();
    this.close();
    this.trigger.focus({ preventScroll: true });
  }
}
