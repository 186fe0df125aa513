// @ts-check
// Playing the steps of a trace, all or some, at a speed.

export const SPEEDS = [0.5, 1, 2, 4, 8, 16];
const STEP_MS = 900; // a step, at speed 1

export class Playback {
  /** @param {{state: State, arrive: (step: number) => void}} actions */
  constructor(actions) {
    this.actions = actions;
    this.speed = 1;
    this.timer = 0;
    /** @type {number[] | null} the steps that are played, where not all are */ this.only = null;
  }

  get on() {
    return this.timer !== 0;
  }

  /** The step that is played next, null at the end. */
  get #next() {
    const s = this.actions.state.session;
    if (!s) return null;
    if (this.only) return this.only.find((n) => n > s.step) ?? null;
    return s.step < s.steps.length ? s.step + 1 : null;
  }

  /** Play or pause; from the start where nothing is left to play. */
  toggle() {
    if (!this.actions.state.session?.steps.length) return;
    if (this.on) {
      this.stop();
      return;
    }
    if (this.#next === null) this.actions.arrive(this.only?.[0] ?? 0);
    this.#schedule();
  }

  /** Play some steps and no others, or pause them. @param {number[]} steps */
  toggleOnly(steps) {
    if (!this.only) this.stop();
    this.only = steps;
    this.toggle();
  }

  /** From now on all steps are played. */
  all() {
    if (!this.only) return;
    this.stop();
    this.only = null;
    this.#told();
  }

  #told() {
    this.actions.state.set({ playing: this.on, only: this.only });
  }

  #schedule() {
    this.timer = window.setInterval(() => {
      const next = this.#next;
      if (next === null) this.stop();
      else this.actions.arrive(next);
    }, STEP_MS / this.speed);
    this.#told();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    if (!this.on) return;
    window.clearInterval(this.timer);
    this.#schedule();
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.#told();
  }
}
