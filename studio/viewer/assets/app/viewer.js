// @ts-check
// The workbench: loads what the descriptor names, holds the state, and tells its parts to draw.

import { OverlayLoader } from "../overlays/loader.js";
import { Comparison } from "../session/comparison.js";
import { fill } from "../page/dom.js";
import { fetchJson, fontReady, wanted } from "../page/fetching.js";
import { Keys } from "./keys.js";
import { answerForLinks } from "../page/link.js";
import { Metrics } from "../layout/metrics.js";
import { Report } from "./report.js";
import { named } from "../session/selection.js";
import { Session } from "../session/session.js";
import { State } from "../session/state.js";
import { Actions } from "./actions.js";
import { Shell } from "./shell.js";
import { readTheme } from "../page/theme.js";
import { measureText } from "../canvas/pen.js";
import { aroundMiddle, showAgain, showChange, showTop } from "../canvas/framing.js";
import { Stage } from "../canvas/stage.js";

/** Where a link or a first visit begins. @param {Descriptor} data @param {Session} session */
function firstStep({ step }, session) {
  if (typeof step === "number") return session.stepOfLink(step);
  return session instanceof Comparison ? 0 : session.steps.length;
}

/** Where one stood in the trace before: who stood at its end still does. @param {Session} old @param {Session} session */
const sameStep = (old, { steps }) =>
  old.step === old.steps.length ? steps.length : Math.min(old.step, steps.length);

/** Where an element is scrolled to, once it is laid out again: what is moved forgets it. @param {Element} el */
function keepScrolled(el) {
  const top = el.scrollTop;
  const laidOut = new ResizeObserver(() => {
    if (!el.clientHeight) return;
    el.scrollTop = top;
    laidOut.disconnect();
  });
  laidOut.observe(el);
}

export class Viewer {
  /** @param {any} parent @param {() => Promise<CSSStyleSheet | null>} loadStyles */
  constructor(parent, loadStyles) {
    this.parent = parent;
    this.cleanup = () => {};
    this.seq = -1;
    /** The server selected it: it has yet to be brought into sight. */
    this.unseen = false;
    this.alive = true;
    this.state = new State();
    this.stage = new Stage(this.state);
    this.actions = new Actions(this.state, this.stage);
    const context = { state: this.state, actions: this.actions };
    this.overlays = new OverlayLoader(this.state);
    this.shell = new Shell(context, this.stage);
    this.report = new Report(context, this.shell);
    this.keys = new Keys(context, this.shell);
    this.endLinks = answerForLinks(this.state);
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

  /** Show the same elsewhere, with the keyboard and what was scrolled where they were. @param {any} parent */
  moveTo(parent) {
    const { root } = this.shell;
    const focused = root.getRootNode().activeElement;
    for (const el of root.querySelectorAll("*")) if (el.scrollTop) keepScrolled(el);
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

  /** @param {Component} component */
  update(component) {
    const { data } = component;
    this.shell.fillWindow();
    this.state.set({ component, data, theme: readTheme(this.shell.root) });
    this.shell.setMode(data.mode);
    this.shell.passes.render();
    for (const part of [this.load(data), this.shell.film.take(data), this.overlays.load(data)])
      part.catch((error) => this.fail(error));
  }

  /** @param {Descriptor} data */
  async load(data) {
    const want = wanted(data);
    // While a new trace is computed the old one stays: nothing jumps.
    const waiting = data.busy && !data.steps && this.state.session?.graph.key === data.graph?.key;
    if (!data.graph || want === this.state.loaded || waiting) {
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
      fontReady(this.state.theme?.font),
    ]);
    if (!this.alive || (this.state.data && wanted(this.state.data) !== want)) return;
    if (want === this.state.loaded) {
      this.#keep(data); // asked for twice while it was on its way
      return;
    }
    const started = performance.now();
    this.state.set({ loaded: want });
    this.#open(data, graph, trace, other);
    this.report.ready(performance.now() - started);
  }

  /**
   * Show a graph with its trace, or with two, where one looked before as far as that makes sense.
   * @param {Descriptor} data @param {GraphJson} graph
   * @param {StepsJson | null} trace
   * @param {StepsJson | null} other of the pipeline beside it
   */
  #open(data, graph, trace, other) {
    const same = this.state.session?.graph === graph;
    const old = same ? this.state.session : null;
    const open = old?.tree.openIds() ?? null;
    const session = this.#session(data, graph, trace, other);
    const compares = session instanceof Comparison;
    const alike = old !== null && old instanceof Comparison === compares;
    const traced = alike && old.trace ? old : null; // a first trace is met like a first visit
    const first = !same || !alike || this.stage.atHome;
    const places = first ? [] : aroundMiddle(this.stage);
    this.actions.reset();
    if (open) {
      session.tree.openExactly(open);
      session.relayout();
    }
    const step = traced ? sameStep(traced, session) : firstStep(data, session);
    session.goto(step, traced?.before ?? data.before ?? session.before);
    this.#show(session);
    this.#impose(data, true);
    this.actions.vetoing.arrived(session);
    const { selected } = this.state;
    if (!traced) this.state.set({ selected: selected ?? named(session, data.select) }); // a link may name what a step makes
    this.stage.refresh(0);
    if (first) showTop(this.stage);
    else showAgain(this.stage, places);
    const asked = typeof data.step === "number" && trace !== null;
    if (!traced) this.state.set({ stepped: asked && (!compares || step > 0) });
    else if (this.state.stepped) this.state.changed("view"); // of another pipeline the address says nothing yet
    if ((this.state.stepped && step > 0 && (!traced || first)) || this.state.vetoed)
      showChange(this.stage, 0);
    this.shell.renderAll();
    this.#showSelected();
  }

  /** @param {Session} session */
  #show(session) {
    const { selected, theme } = this.state;
    if (theme) this.shell.root.style.setProperty("--pl-match", theme.match);
    this.stage.clear();
    this.state.set({ session, selected: session.knows(selected) ? selected : null });
    this.stage.applySplit();
  }

  /**
   * @param {Descriptor} data @param {GraphJson} graph
   * @param {StepsJson | null} trace
   * @param {StepsJson | null} other
   */
  #session({ pipeline, versus }, graph, trace, other) {
    const metrics = new Metrics({ text: measureText }, this.state.theme?.font ?? "sans-serif");
    if (!trace || !other || !versus) return new Session(graph, trace, metrics);
    const own = { name: pipeline?.name ?? pipeline?.preset ?? "", trace };
    return new Comparison(graph, [own, { name: versus.name, trace: other }], metrics);
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
    const s = this.state.session;
    const elsewhere = data.mode === "film" && (data.step ?? 0) !== s?.step;
    if (!s || (data.seq === this.seq && !elsewhere)) return;
    this.seq = data.seq;
    if (data.open) {
      s.tree.openAs(data.open);
      s.relayout();
    }
    if (data.select?.length) {
      this.state.set({ selected: named(s, data.select) });
      this.unseen = !data.open; // a link that says what is folded is left as it is
    }
    if (typeof data.step === "number") s.goto(s.stepOfLink(data.step), data.before ?? s.before);
    else if (fresh) s.goto(s.step, data.before ?? s.before);
    this.stage.refresh(0);
  }

  /** Whoever came here for a node sees it, whatever is folded around it. */
  #showSelected() {
    if (this.unseen && this.state.selected !== null) this.actions.reveal(this.state.selected);
    this.unseen = false;
  }

  /** @param {unknown} error */
  fail(error) {
    const text = error instanceof Error ? error.message : String(error);
    this.report.error(text);
    this.shell.note.problem(text);
  }

  dispose() {
    this.alive = false;
    this.actions.playback.stop();
    this.actions.outbox.stop();
    this.report.dispose();
    this.keys.dispose();
    this.endLinks();
    this.stage.dispose();
    this.shell.dispose();
    fill(this.shell.root);
    this.shell.root.remove();
  }
}
