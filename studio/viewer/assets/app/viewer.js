// @ts-check
// The workbench: loads what the descriptor names, holds the state, and tells its parts to draw.

import { Comparison } from "../session/comparison.js";
import { fill } from "../page/dom.js";
import { fetchJson, wanted } from "../page/fetching.js";
import { fontReady } from "../page/fonts.js";
import { Heat } from "../overlays/latency.js";
import { Live } from "./announcer.js";
import { Keys } from "./keys.js";
import { answerForLinks } from "../page/link.js";
import { Metrics } from "../layout/metrics.js";
import { Navigator } from "./navigator.js";
import { Report } from "./report.js";
import { named, Selection } from "../session/selection.js";
import { Session } from "../session/session.js";
import { Shell } from "./shell.js";
import { readTheme } from "../page/theme.js";
import { Vetoing } from "../panels/vetoing.js";

/** @typedef {import("../types.js").Descriptor} Descriptor */

/**
 * @param {string} own @param {import("../types.js").StepsJson} trace
 * @param {string} theirs @param {import("../types.js").StepsJson} other
 */
const both = (own, trace, theirs, other) => [
  { name: own, trace },
  { name: theirs, trace: other },
];

export class Viewer {
  /** @param {any} parent @param {() => Promise<CSSStyleSheet | null>} loadStyles */
  constructor(parent, loadStyles) {
    this.parent = parent;
    this.cleanup = () => {};
    /** @type {Descriptor | null} */ this.data = null;
    /** @type {import("../types.js").Component | null} */ this.component = null;
    /** @type {Session | null} */ this.session = null;
    this.loaded = "";
    this.seq = -1;
    /** @type {string | null} id of the selected node or group */ this.selected = null;
    /** @type {Selection | null} */ this.chosen = null;
    /** The server selected it: it has yet to be brought into sight. */
    this.unseen = false;
    /** @type {Heat | null} node times, where there are any */ this.heat = null;
    /** Whether they are shown. */
    this.warm = false;
    this.timesKey = "";
    this.alive = true;
    this.report = new Report(this);
    this.nav = new Navigator(this);
    this.live = new Live(this);
    this.veto = new Vetoing(this);
    this.shell = new Shell(this);
    this.keys = new Keys(this);
    this.endLinks = answerForLinks(this);
    this.shell.root.style.visibility = "hidden";
    this.loadStyles = loadStyles;
    this.styled = this.#settle();
  }

  /** Into the parent, with styles. */
  async #settle() {
    const home = this.parent.querySelector?.("[data-passlens]") ?? this.parent;
    home.append(this.shell.root);
    this.#styled(await this.loadStyles());
  }

  /** Show the same elsewhere, with the keyboard where it was. @param {any} parent */
  moveTo(parent) {
    const focused = this.shell.root.getRootNode().activeElement;
    this.parent = parent;
    this.styled = this.#settle();
    focused?.focus({ preventScroll: true });
  }

  /** @param {CSSStyleSheet | null} sheet */
  #styled(sheet) {
    const scope = this.parent.getRootNode?.() ?? document;
    if (sheet && scope.adoptedStyleSheets && !scope.adoptedStyleSheets.includes(sheet))
      scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, sheet];
    this.shell.root.style.visibility = "";
    this.shell.fillWindow();
  }

  get stage() {
    return this.shell.stage;
  }

  /** Everything that moves asks here first. */
  get motion() {
    return !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** @param {import("../types.js").Component} component */
  update(component) {
    this.component = component;
    this.data = component.data;
    this.shell.fillWindow();
    this.theme = readTheme(this.shell.root);
    this.stage.theme = this.theme;
    this.stage.busy = !!this.data.busy;
    this.shell.setMode(this.data.mode);
    this.shell.passes.render();
    this.shell.notice(this.data);
    this.load(this.data).catch((error) => this.fail(error));
    this.shell.film.take(this.data).catch((error) => this.fail(error));
    this.#takeTimes(this.data).catch((error) => this.fail(error));
  }

  /** @param {Descriptor} data */
  async #takeTimes(data) {
    const key = data.times?.key ?? "";
    if (key !== this.timesKey) {
      this.timesKey = key;
      const json = data.times ? await fetchJson(data.times.url) : null;
      if (!this.alive || this.timesKey !== key) return;
      const phase = this.heat?.phase ?? "steady";
      this.heat = json ? new Heat(json) : null;
      if (this.heat) this.heat.phase = phase;
    }
    this.#renderHeat();
  }

  #renderHeat() {
    const { heat, stage, shell } = this;
    const single = !(this.session instanceof Comparison); // times belong to one trace
    const offered = heat !== null && single && (this.data?.mode === "rewrite" || heat.hasSource);
    stage.heat = offered && this.warm ? heat : null;
    shell.tools.time.hidden = !offered;
    shell.tools.time.setAttribute("aria-pressed", String(stage.heat !== null));
    shell.legend.render();
    shell.renderSelection();
    stage.invalidate();
  }

  toggleHeat() {
    if (!this.heat) return;
    this.warm = !this.warm;
    this.live.say(this.warm ? "Times of nodes are shown." : "Kinds of nodes are shown.");
    this.#renderHeat();
  }

  /** @param {import("../overlays/latency.js").Phase} phase */
  setPhase(phase) {
    if (this.heat) this.heat.phase = phase;
    this.#renderHeat();
  }

  /** @param {Descriptor} data */
  async load(data) {
    const want = wanted(data);
    // While a new trace is computed the old one stays: nothing jumps.
    const waiting = data.busy && !data.steps && this.session?.graph.key === data.graph?.key;
    if (!data.graph || want === this.loaded || waiting) {
      await this.styled;
      this.#keep(data);
      return;
    }
    const { versus } = data;
    const [graph, trace, other] = await Promise.all([
      fetchJson(data.graph.url),
      data.steps ? fetchJson(data.steps.url) : null,
      versus?.steps ? fetchJson(versus.steps.url) : null,
      this.styled,
      fontReady(this.theme?.font),
    ]);
    if (!this.alive || (this.data && this.data !== data && wanted(this.data) !== want)) return;
    if (want === this.loaded) {
      this.#keep(data); // asked for twice while it was on its way
      return;
    }
    const started = performance.now();
    const same = this.session?.graph === graph;
    const old = same ? this.session : null;
    const open = old?.tree.openIds() ?? null;
    this.loaded = want;
    this.shell.restyleMeasure(this.theme);
    const metrics = new Metrics(this.shell.measure, this.theme?.font ?? "sans-serif");
    const own = data.pipeline?.name ?? data.pipeline?.preset ?? "";
    const session =
      trace && other && versus
        ? new Comparison(graph, both(own, trace, versus.name, other), metrics)
        : new Session(graph, trace, metrics);
    const alike = old !== null && old instanceof Comparison === session instanceof Comparison;
    const traced = alike && old.trace ? old : null; // a first trace is met like a first visit
    this.session = session;
    this.nav.reset();
    if (open) {
      session.tree.openExactly(open);
      session.relayout();
    }
    const last = session.steps.length;
    const step = !traced
      ? session instanceof Comparison
        ? 0
        : (data.step ?? last)
      : traced.step === traced.steps.length
        ? last
        : Math.min(traced.step, last);
    session.goto(step, traced?.before ?? data.before ?? session.before);
    const first = !same || !alike || (!traced && this.stage.atHome);
    this.stage.setSession(session);
    this.stage.applySplit();
    if (!session.knows(this.selected)) this.selected = null;
    this.#impose(data, true);
    this.veto.arrived(session);
    if (!traced) this.selected ??= named(session, data.select); // a link may name what a step makes
    this.stage.refresh(0);
    if (first) this.stage.home();
    if (!traced)
      this.nav.touched =
        typeof data.step === "number" && trace !== null && !(session instanceof Comparison);
    if (!traced && this.nav.touched && step > 0) this.nav.follow(0);
    if (this.veto.done) this.nav.follow(0);
    this.shell.renderAll();
    this.#renderHeat();
    this.#showSelected();
    this.report.ready(performance.now() - started);
  }

  /** The same graph and trace, told again. @param {Descriptor} data */
  #keep(data) {
    this.#impose(data);
    this.shell.renderAll();
    this.#showSelected();
  }

  /**
   * What the server sets, once for each `seq`: step, comparison, selection, open groups.
   * @param {Descriptor} data
   * @param {boolean} [fresh]
   */
  #impose(data, fresh = false) {
    const s = this.session;
    const elsewhere = data.mode === "film" && (data.step ?? 0) !== s?.step;
    if (!s || (data.seq === this.seq && !elsewhere)) return;
    this.seq = data.seq;
    if (data.open) {
      s.tree.openAs(data.open);
      s.relayout();
    }
    if (data.select?.length) {
      this.selected = named(s, data.select);
      this.unseen = !data.open; // a link that says what is folded is left as it is
    }
    const step = data.step ?? (fresh ? s.step : null);
    if (step !== null && step !== undefined && !(s instanceof Comparison))
      s.goto(step, data.before ?? s.before);
    this.stage.refresh(0);
  }

  /** Whoever came here for a node sees it, whatever is folded around it. */
  #showSelected() {
    if (this.unseen && this.selected !== null) this.nav.reveal(this.selected);
    this.unseen = false;
  }

  /** @param {unknown} error */
  fail(error) {
    const text = error instanceof Error ? error.message : String(error);
    this.report.error(text);
    this.shell.problem(text);
  }

  /** What is selected in the graph that is shown. @returns {Selection | null} */
  get selection() {
    const { session, selected, chosen } = this;
    if (!session || selected === null) return null;
    if (chosen?.session !== session || chosen.id !== selected)
      this.chosen = new Selection(session, selected);
    return this.chosen;
  }

  /** @param {string | null} id of a node or a group @param {{reveal?: boolean}} [how] */
  select(id, how = {}) {
    if (id !== this.selected) this.nav.play.all();
    this.selected = id;
    this.report.touch();
    if (id !== null && how.reveal) this.nav.reveal(id);
    this.shell.renderSelection();
    this.shell.layoutRight();
    this.shell.showSelection();
    this.live.selection();
    this.stage.invalidate();
  }

  /** Select the group around what is selected, if there is one. */
  selectAround() {
    const around = this.selection?.around;
    if (around) this.select(around, { reveal: true });
  }

  /** @param {string} name @param {any} value */
  trigger(name, value) {
    this.component?.setTriggerValue(name, value);
  }

  dispose() {
    this.alive = false;
    this.nav.play.stop();
    this.report.dispose();
    this.keys.dispose();
    this.endLinks();
    this.stage.dispose();
    this.shell.dispose();
    fill(this.shell.root);
    this.shell.root.remove();
  }
}
