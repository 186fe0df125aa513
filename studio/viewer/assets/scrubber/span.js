// @ts-check
// The part of all steps that a strip shows. Wheel zooms it; whoever steps out of it takes it along.

const MARGIN = 0.1; // of the part, between the step that left it and its new edge

export class Span {
  constructor() {
    this.count = 0;
    this.from = 0;
    this.to = 0;
  }

  /** Another trace: everything. @param {number} count */
  all(count = this.count) {
    this.count = count;
    this.from = 0;
    this.to = count;
  }

  get length() {
    return this.to - this.from;
  }
  get zoomed() {
    return this.length < this.count;
  }

  /**
   * @param {number} factor above 1 shows less
   * @param {number} at share of the strip that stays where it is
   * @param {number} least steps to show
   */
  zoom(factor, at, least) {
    const fixed = this.from + at * this.length;
    const length = Math.min(
      this.count,
      Math.max(Math.min(least, this.count), this.length / factor),
    );
    this.#put(fixed - at * length, length);
  }

  /** @param {number} share of its own length */
  pan(share) {
    this.#put(this.from + share * this.length, this.length);
  }

  /** @param {number} step */
  show(step) {
    const { length } = this;
    if (step > this.to) this.#put(step - MARGIN * length, length);
    else if (step - 1 < this.from) this.#put(step - (1 - MARGIN) * length, length);
  }

  /** @param {number} from @param {number} length */
  #put(from, length) {
    this.from = Math.max(0, Math.min(this.count - length, from));
    this.to = this.from + length;
  }
}
