// @ts-check
// What the user asks of the server, told until it has been heard. Streamlit forgets a trigger when another
// message overtakes it before its run of the script has begun; a state is told again with every message.

const AGAIN_MS = 10_000; // without an answer

/** @typedef {{number: number, name: string, value: any}} Message numbers grow */
/**
 * What the server is spoken to through, and what it said last.
 * @typedef {object} Line
 * @property {{setStateValue: (name: any, value: any) => void} | null} component
 * @property {{acknowledged?: number} | null} data
 */

export class Outbox {
  /** @param {Line} line */
  constructor(line) {
    this.line = line;
    this.last = 0;
    this.timer = 0;
    /** @type {Message[]} */ this.unheard = [];
  }

  /** @param {string} name @param {any} value */
  post(name, value) {
    // After those of any viewer before this one: the server knows the last number it has heard.
    this.last = Math.max(Date.now(), this.last + 1);
    const view = (/** @type {Message} */ message) => name === "view" && message.name === "view";
    const others = this.unheard.filter((message) => !view(message)); // the last view is the one
    this.unheard = [...others, { number: this.last, name, value }];
    this.#send();
  }

  #send() {
    this.stop();
    this.line.component?.setStateValue("messages", this.unheard);
    this.timer = window.setTimeout(() => this.#send(), AGAIN_MS);
  }

  /** The server has answered: what it has heard is told no more. */
  heard() {
    const acknowledged = this.line.data?.acknowledged ?? 0;
    this.last = Math.max(this.last, acknowledged);
    this.unheard = this.unheard.filter(({ number }) => number > acknowledged);
    if (!this.unheard.length) this.stop();
  }

  stop() {
    window.clearTimeout(this.timer);
  }
}
