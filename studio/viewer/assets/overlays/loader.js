// @ts-check
// Offers the overlays that fit what is shown: what the server keeps is fetched, others are made of
// the session.

import { fetchJson } from "../page/fetching.js";
import { Stamped } from "../page/stamped.js";
import { Comparison } from "../session/comparison.js";
import { OVERLAYS } from "./registry.js";

export class OverlayLoader {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {Map<string, {key: string, overlay: Overlay | null}>} by id */ this.known = new Map();
    /** @type {Stamped<Overlay>} by id */ this.made = new Stamped();
    state.watch(["session"], () => this.offer());
  }

  /** @param {Descriptor} data */
  async load(data) {
    await Promise.all(OVERLAYS.map((kind) => this.#load(kind, data.overlays?.[kind.id])));
    this.offer();
  }

  /** @param {OverlayKind} kind @param {{key: string, url: string} | null} [source] */
  async #load({ id, load }, source) {
    if (!load) return;
    const before = this.known.get(id);
    const key = source?.key ?? "";
    if ((before?.key ?? "") === key) return;
    const entry = { key, overlay: before?.overlay ?? null };
    this.known.set(id, entry);
    const json = source ? await fetchJson(source.url) : null;
    if (this.known.get(id) !== entry) return; // overtaken by a newer one
    const overlay = json ? load(json) : null;
    if (overlay && entry.overlay) overlay.choice = entry.overlay.choice;
    entry.overlay = overlay;
  }

  offer() {
    const { data, session } = this.state;
    /** @type {Map<string, Overlay>} */
    const overlays = new Map();
    for (const kind of OVERLAYS) {
      const overlay = session && data && data.mode !== "film" && this.#fitting(kind, session, data);
      if (overlay) overlays.set(kind.id, overlay);
    }
    this.state.set({ overlays });
  }

  /**
   * What the server keeps belongs to one trace, and to its source where no trace is shown.
   * @param {OverlayKind} kind @param {Session} session @param {Descriptor} data
   */
  #fitting({ id, ofSession }, session, data) {
    if (ofSession) return this.made.get(id, [session], () => ofSession(session));
    const overlay = this.known.get(id)?.overlay;
    const single = !(session instanceof Comparison);
    return single && (data.mode === "rewrite" || overlay?.ofSource) ? overlay : null;
  }
}
