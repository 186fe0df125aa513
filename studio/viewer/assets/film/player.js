// @ts-check
// Moving through a film: event by event, node by node, at a speed. The clock is the screen's.

import { ease } from "../canvas/camera.js";
import { Replay } from "./events.js";

export const FILM_SPEEDS = [0.5, 1, 2, 4, 8, 16, 64, 256];
const EVENT_MS = 260;
const EVERY_MS = 800; // an event, at speed 1
const SLOWEST_CUT = 70; // events that come faster than this are not animated

/**
 * @typedef {object} Move what is drawn between two events
 * @property {number} event @property {boolean} forward @property {number} started
 * @property {number} ms
 */

export class Player {
  /** @param {Pick<FilmPanel, "moved" | "stateChanged" | "state">} panel */
  constructor(panel) {
    this.panel = panel;
    /** @type {AllocatorEvents | null} */ this.events = null;
    /** @type {Replay | null} */ this.replay = null;
    /** @type {Move | null} */ this.move = null;
    this.speed = 1;
    this.playing = false;
    /** false until someone moves: playing then starts at the beginning */
    this.touched = false;
    this.clock = 0;
    this.credit = 0;
  }

  /** @param {AllocatorEvents | null} events @param {number | null} place to open at, if there is such a place */
  load(events, place) {
    const asked = this.touched && this.events?.count === events?.count ? this.at : place;
    const known = asked !== null && asked <= (events?.count ?? 0);
    this.stop();
    this.events = events;
    this.replay = events && new Replay(events);
    this.move = null;
    this.touched = known;
    this.replay?.goto(known ? asked : (events?.climax ?? 0));
    this.panel.moved();
  }

  get at() {
    return this.replay?.at ?? 0;
  }
  get count() {
    return this.events?.count ?? 0;
  }
  get interval() {
    return EVERY_MS / this.speed;
  }

  /** @param {number} k @param {{quick?: boolean}} [how] */
  goto(k, how = {}) {
    const { replay } = this;
    if (!replay) return;
    const from = replay.at;
    const to = Math.max(0, Math.min(this.count, Math.round(k)));
    if (to === from) return;
    this.touched = true;
    replay.goto(to);
    const forward = to > from;
    const slow = !this.playing || this.interval >= SLOWEST_CUT;
    const animate = Math.abs(to - from) === 1 && slow && !how.quick && this.panel.state.motion;
    const ms = this.playing ? Math.min(EVENT_MS, this.interval * 0.8) : EVENT_MS;
    const event = forward ? to : from;
    this.move = animate ? { event, forward, started: performance.now(), ms } : null;
    this.panel.moved();
  }

  /** Stop and go. @param {number} k */
  cut(k) {
    this.stop();
    this.goto(k);
  }

  /** @param {number} by */
  eventBy(by) {
    this.cut(this.at + by);
  }

  /** @param {1 | -1} way */
  nodeBy(way) {
    this.stop();
    if (this.events) this.goto(this.events.nodeBy(this.at, way));
  }

  toggle() {
    if (this.playing) {
      this.stop();
      return;
    }
    if (!this.events) return;
    if (!this.touched || this.at >= this.count) this.goto(0, { quick: true });
    this.touched = true;
    this.playing = true;
    this.clock = 0;
    this.credit = 1;
    this.panel.stateChanged();
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.panel.stateChanged();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.panel.stateChanged();
  }

  /** @param {1 | -1} way */
  faster(way) {
    const place = FILM_SPEEDS.indexOf(this.speed) + way;
    this.setSpeed(FILM_SPEEDS[Math.max(0, Math.min(FILM_SPEEDS.length - 1, place))]);
  }

  /**
   * Once a frame. @param {number} now
   * @returns {boolean} whether another frame is wanted
   */
  tick(now) {
    if (this.playing) {
      // A tab that was hidden does not catch up.
      const passed = this.clock ? Math.min(100, now - this.clock) : 0;
      this.clock = now;
      this.credit += passed / this.interval;
      const whole = Math.floor(this.credit);
      this.credit -= whole;
      if (whole) this.goto(this.at + whole);
      if (this.at >= this.count) this.stop();
    }
    if (this.move && now - this.move.started >= this.move.ms) this.move = null;
    return this.playing || this.move !== null;
  }

  /** The event that is drawn, and how much of it has happened. @param {number} now */
  moment(now) {
    const { move } = this;
    if (!move) return { event: this.at, t: 1 };
    const p = ease(Math.min(1, Math.max(0, (now - move.started) / move.ms)));
    return { event: move.event, t: move.forward ? p : 1 - p };
  }
}
