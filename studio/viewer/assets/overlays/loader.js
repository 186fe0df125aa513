// @ts-check
// Fetches the numbers of every overlay that the server names, and offers those that fit what is shown.

import { fetchJson } from "../page/fetching.js";
import { Comparison } from "../session/comparison.js";
import { OVERLAYS } from "./registry.js";

export class OverlayLoader {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {Map<string, {key: string, overlay: Overlay | null}>} by id */ this.known = new Map();
    state.watch(["session"], () => this.offer());
  }

  /** @param {Descriptor} data */
  async load(data) {
    await Promise.all(OVERLAYS.map((kind) => this.#load(kind, data.overlays?.[kind.id])));
    this.offer();
  }

  /** @param {OverlayKind} kind @param {{key: string, url: string} | null} [source] */
  async #load({ id, load }, source) {
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

  /** Those that fit: numbers belong to one trace, and to its source where no trace is shown. */
  offer() {
    const { data, session } = this.state;
    const single = !(session instanceof Comparison);
    /** @type {Map<string, Overlay>} */
    const overlays = new Map();
    for (const [id, { overlay }] of this.known)
      if (overlay && single && (data?.mode === "rewrite" || overlay.ofSource))
        overlays.set(id, overlay);
    this.state.set({ overlays });
  }
}
