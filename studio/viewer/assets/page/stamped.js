// @ts-check
// What was made last, kept as long as what it was made from is the same.

/** @template T */
export class Stamped {
  constructor() {
    /** @type {Map<string, {stamp: readonly unknown[], value: T}>} */ this.known = new Map();
  }

  /** @param {string} key @param {readonly unknown[]} stamp what it is made from @param {() => T} make */
  get(key, stamp, make) {
    const last = this.known.get(key);
    if (last?.stamp.every((part, i) => part === stamp[i])) return last.value;
    const value = make();
    this.known.set(key, { stamp, value });
    return value;
  }
}
