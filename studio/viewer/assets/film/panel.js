// @ts-check
// Beside the graph: what happens in words, three allocators on one axis, the free list.

import { bytesText } from "../page/numbers.js";
import { fill, h } from "../page/dom.js";
import { fetchJson } from "../page/fetching.js";
import { FilmBar } from "./bar.js";
import { parts, sentence } from "./words.js";
import { FreeList } from "./free-list.js";
import { LaneCanvas } from "./lane-canvas.js";
import { Player } from "./player.js";
import { AllocatorEvents } from "./events.js";
import { Spotlight } from "./spotlight.js";

const CAMERA_MS = 420;

export class FilmPanel {
  /** @param {Context} context @param {Stage} stage @param {Tooltip} tip */
  constructor(context, stage, tip) {
    this.stage = stage;
    this.alive = true;
    this.state = context.state;
    this.actions = context.actions;
    /** @type {AllocatorEvents | null} */ this.events = null;
    this.key = "";
    this.frame = 0;
    /** @type {string} what was drawn last, so that words are not written twice */
    this.said = "";
    /** @type {number | null} the event that is in the link */ this.linked = null;
    this.player = new Player(this);
    this.spotlight = new Spotlight(context.state, stage);
    this.lanes = new LaneCanvas(this, tip);
    this.free = new FreeList();
    this.bar = new FilmBar(this, tip);
    this.chip = h("span.pl-chip-kind");
    this.words = h("span.pl-words");
    this.facts = h("dl.pl-now");
    this.el = h(
      "section.pl-film",
      { "aria-label": "Allocators", hidden: true },
      h("p.pl-say", this.chip, this.words),
      this.lanes.el,
      h("div.pl-below", this.free.el, this.facts),
    );
  }

  /** @param {Descriptor} data */
  async take(data) {
    const key = data.mode === "film" ? (data.film?.key ?? "") : "";
    this.stage.spotlight = data.mode === "film" ? this.spotlight : null;
    if (key !== this.key) {
      this.key = key;
      const json = data.film && key ? await fetchJson(data.film.url) : null;
      if (!this.alive || this.key !== key) return;
      this.events = json ? new AllocatorEvents(json, key) : null;
      this.said = "";
      this.linked = data.event ?? null;
      this.player.load(this.events, this.linked);
    }
    this.bar.renderState();
    this.invalidate();
  }

  /** The graph is drawn anew: light the node in it. */
  relight() {
    if (this.events) this.spotlight.keepInSight(0);
    this.said = "";
    this.invalidate();
  }

  /** Another event is shown, or is about to be. */
  moved() {
    this.invalidate();
    this.state.changed("view");
  }

  /** Where somebody has gone, said once. @returns {{film: string, event: number} | null} */
  news() {
    const { events, player } = this;
    if (!events || !player.touched || player.at === this.linked) return null;
    this.linked = player.at;
    return { film: events.key, event: player.at };
  }

  /** Playing has begun or ended, or has another speed. */
  stateChanged() {
    this.bar.renderState();
    this.invalidate();
    if (!this.player.playing) this.settled();
    else if (this.state.selected !== null) this.actions.select(null); // it would dim the rest
  }

  /** A node was clicked in the graph: go to where it runs. @param {string | null} id */
  pick(id) {
    const node = this.events?.json.nodes.findIndex((rec) => rec[0] === id) ?? -1;
    const k = node < 0 ? 0 : (this.events?.eventOf(node) ?? 0);
    this.actions.select(k ? null : id);
    if (!k) return;
    this.player.stop();
    this.player.goto(k, { quick: true });
  }

  /** Playing or dragging has ended: say where we are. */
  settled() {
    if (!this.events) return;
    this.actions.say(sentence(this.events, this.player.at));
    this.bar.render();
  }

  invalidate() {
    if (!this.frame)
      this.frame = requestAnimationFrame((now) => {
        this.frame = 0;
        this.#draw(now);
      });
  }

  /** @param {number} now */
  #draw(now) {
    const { events, player, state } = this;
    const { replay } = player;
    if (state.data?.mode !== "film" || !state.theme || !this.alive) return;
    const more = player.tick(now);
    if (events && replay) {
      this.#changed(events, replay);
      this.lanes.draw(now);
    }
    this.bar.render();
    state.changed("drawn");
    if (more) this.invalidate();
  }

  /** @param {AllocatorEvents} events @param {Replay} replay */
  #changed(events, replay) {
    const said = `${events.key}|${replay.at}`;
    if (said === this.said) return;
    this.said = said;
    const k = replay.at;
    const kind = k ? events.kindOf(k) : "";
    this.chip.textContent = kind || "start";
    this.chip.dataset.way = k && events.comes(k) ? "in" : "out";
    fill(
      this.words,
      parts(events, k).map((p) => (typeof p === "string" ? p : h("b", p.strong))),
    );
    this.free.render(events, replay);
    this.#count(events, k);
    const node = events.json.nodes[events.nodeAt(k)]?.[0] ?? null;
    this.spotlight.light(node, this.#fast ? 0 : this.state.ms(CAMERA_MS));
    if (!this.player.playing) this.settled();
  }

  get #fast() {
    return this.player.playing && this.player.interval < 40;
  }

  /** @param {AllocatorEvents} events @param {number} k */
  #count(events, k) {
    const held = events.peak[k];
    const idle = held - events.used[k];
    const share = held ? Math.round((idle / held) * 100) : 0;
    const rows = [
      ["alive now", bytesText(events.used[k])],
      ["lazy holds", bytesText(held)],
      ["of it unused", `${bytesText(idle)}, ${share} %`],
      ["bound", bytesText(events.json.bound)],
    ];
    fill(
      this.facts,
      rows.flatMap(([name, text]) => [h("dt", name), h("dd", text)]),
    );
  }

  /** The film that is asked for has come, or none is. */
  get ready() {
    return this.key === (this.events?.key ?? "");
  }

  /** For tests: where the film is. */
  report() {
    const { events, player, spotlight } = this;
    if (!events) return null;
    const { at, playing, move } = player;
    return { at, count: events.count, playing, moving: move !== null, node: spotlight.node };
  }

  dispose() {
    this.alive = false;
    cancelAnimationFrame(this.frame);
    this.player.stop();
    this.bar.bar.dispose();
    this.lanes.dispose();
  }
}
