// @ts-check
// The frame: left what I choose, middle what I look at, right what it is, below the scrubber.

import { Card } from "../panels/step-card.js";
import { Details } from "../panels/details.js";
import { button, fill, h } from "../page/dom.js";
import { FilmPanel } from "../film/panel.js";
import { giveFocusBack } from "../page/focus.js";
import { GroupCard } from "../panels/group-card.js";
import { Help } from "../panels/help.js";
import { Legend } from "../overlays/legend.js";
import { Passes } from "../panels/passes.js";
import { Scrubber } from "../scrubber/scrubber.js";
import { Search } from "../panels/search.js";
import { Stage } from "../canvas/stage.js";
import { dress } from "../page/theme.js";
import { makeTools } from "./tools.js";
import { Tooltip } from "../panels/tooltip.js";

const NARROW = 1150; // below, the passes hide
const ROOMY = 1400; // below, the panels are slimmer: the graph is the hero
const TIGHT = 900; // below, both panels hide
export class Shell {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.mode = "rewrite";
    /** @type {boolean | null} null = by width */ this.leftWanted = null;
    /** @type {boolean | null} */ this.rightWanted = null;
    const pen = /** @type {CanvasRenderingContext2D} */ (
      document.createElement("canvas").getContext("2d")
    );
    this.measure = {
      text: (/** @type {string} */ text, /** @type {string} */ font) => {
        pen.font = font;
        return pen.measureText(text).width;
      },
    };
    this.tip = new Tooltip();
    const { state, actions } = viewer;
    const context = { state, actions };
    this.stage = new Stage(this.#stageHost());
    this.passes = new Passes(context, this.tip);
    this.card = new Card(context);
    this.details = new Details(context);
    this.groupCard = new GroupCard(context);
    this.scrubber = new Scrubber(context, this.tip);
    this.film = new FilmPanel(context, this);
    this.search = new Search(context);
    this.note = h("div.pl-note", { hidden: true });
    this.legend = new Legend(context);
    this.help = new Help();
    this.tools = makeTools(viewer, this);
    this.tools.el.append(this.stage.minimap.el);
    this.middle = h(
      "section.pl-middle",
      { "aria-label": "Graph" },
      this.stage.el,
      this.tools.el,
      this.legend.el,
      this.note,
      viewer.veto.el,
    );
    this.left = h("aside.pl-left", { "aria-label": "Passes" }, this.passes.el);
    this.right = h(
      "aside.pl-right",
      { "aria-label": "Details" },
      this.search.el,
      this.card.el,
      this.details.el,
      this.groupCard.el,
      viewer.announcer.details,
    );
    this.body = h("div.pl-body", this.left, this.middle, this.film.el, this.right);
    this.root = h(
      "div.pl-root",
      { tabindex: 0, role: "region", "aria-label": "Graph viewer, press question mark for keys" },
      this.body,
      this.scrubber.el,
      this.film.bar.el,
      viewer.announcer.line,
      this.help.el,
      this.tip.el,
      h("div.pl-ring"),
    );
    this.onResize = () => this.fillWindow();
    window.addEventListener("resize", this.onResize);
    this.widthSeen = 0;
    state.watch(["theme"], () => {
      this.stage.theme = state.theme;
    });
    state.watch(["data"], () => {
      this.stage.busy = !!state.data?.busy;
    });
    state.watch(["step"], () => this.renderStep());
    state.watch(["playing", "only"], () => this.renderPlay());
    state.watch(["folding"], () => this.twinChanged());
    state.watch(["marks"], () => this.stage.invalidate());
    state.watch(["panels"], () => this.applyPanels());
    state.watch(["drawn"], () => viewer.report.publish());
    state.watch(["selected", "overlays", "wanted"], () => {
      this.stage.overlay = state.overlay;
      this.renderSelection();
      this.layoutRight();
      this.stage.invalidate();
    });
    this.watch = new ResizeObserver(() => {
      if (Math.abs(this.root.clientWidth - this.widthSeen) > 1) {
        this.widthSeen = this.root.clientWidth;
        this.fillWindow();
      }
    });
    this.watch.observe(this.root);
    giveFocusBack(this.root);
  }

  /** @returns {import("../canvas/stage.js").StageHost} */
  #stageHost() {
    const { viewer } = this;
    return {
      pick: (box) => {
        const id = box?.rec?.id ?? box?.group?.id ?? null;
        if (this.mode === "film") this.film.pick(id);
        else viewer.actions.select(id);
      },
      toggle: (box) => {
        if (box.group) viewer.nav.toggle(box.group);
      },
      hover: (box, event, which) => {
        const s = viewer.state.session;
        const { overlay } = viewer.state;
        const value = s && box ? overlay?.values(s, which)(box) : null;
        const around = box && event ? this.stage.rectOf(box, which) : undefined;
        this.tip.node(s, box, event, which, {
          number: overlay && value ? overlay.text(value) : "",
          around,
        });
      },
      setBefore: (before) => viewer.nav.setBefore(before),
      endComparison: () => viewer.actions.send("pipeline", { versus: "" }),
      moved: () => this.tip.hide(),
      drawn: () => viewer.state.changed("drawn"),
      selection: () => viewer.state.selection,
    };
  }

  /** Take the height that the window has left, so that the page itself never scrolls. */
  fillWindow() {
    const top = this.root.getBoundingClientRect().top + window.scrollY;
    const inside = this.root.closest?.("[data-fixed-height]");
    this.root.style.height = `${Math.max(420, Math.floor((inside ? inside.clientHeight : window.innerHeight) - Math.max(0, top) - 8))}px`;
    this.applyPanels();
  }

  /** @param {"model" | "rewrite" | "film"} mode */
  setMode(mode) {
    const changed = this.mode !== mode || !this.stage.theme;
    this.mode = mode;
    const single = mode !== "rewrite";
    this.root.classList.toggle("pl-model", single);
    this.scrubber.el.hidden = single;
    this.film.el.hidden = this.film.bar.el.hidden = mode !== "film";
    this.card.el.hidden = single;
    for (const t of [...this.tools.panes, this.tools.follow, this.tools.left]) t.hidden = single;
    if (changed || this.stage.single !== single) {
      this.stage.single = single;
      this.stage.applySplit();
    }
    this.applyPanels();
  }

  applyPanels() {
    const width = this.root.clientWidth || window.innerWidth;
    const wide = width >= NARROW;
    const left = this.mode === "rewrite" && (this.leftWanted ?? wide);
    const chosen = this.viewer.state.selected !== null;
    const asked =
      this.mode === "film"
        ? chosen && width >= ROOMY
        : chosen || (this.mode === "rewrite" && width >= TIGHT);
    const right = this.search.active || (this.rightWanted ?? asked);
    this.left.hidden = !left;
    this.root.classList.toggle("pl-leftless", !left);
    this.right.hidden = !right;
    const [leftWidth, rightWidth] = width >= ROOMY ? [280, 320] : [248, wide ? 272 : 260];
    const middle = this.mode === "film" ? "minmax(200px, 32%) minmax(0, 1fr)" : "minmax(0, 1fr)";
    this.body.style.gridTemplateColumns = `${left ? `${leftWidth}px ` : ""}${middle}${right ? ` ${rightWidth}px` : ""}`;
    this.tools.left.setAttribute("aria-pressed", String(left));
    this.tools.right.setAttribute("aria-pressed", String(right));
  }

  toggleLeft() {
    this.leftWanted = this.left.hidden;
    this.applyPanels();
  }
  toggleRight() {
    this.rightWanted = this.right.hidden;
    this.applyPanels();
  }
  layoutRight() {
    this.card.el.classList.toggle("pl-short", this.viewer.state.selected !== null);
    this.applyPanels();
  }
  /** Bring the card of what was selected just now into sight, whatever stands above it. */
  showSelection() {
    const { selection } = this.viewer.state;
    if (!selection) return;
    const { el } = selection.group ? this.groupCard : this.details;
    const [is, frame] = [el.getBoundingClientRect(), this.right.getBoundingClientRect()];
    const top = frame.top + this.search.el.offsetHeight;
    if (is.bottom > frame.bottom || is.top < top) this.right.scrollTop += is.top - top;
  }

  /** @param {1 | 2 | 3} n */
  setPanes(n) {
    this.stage.setMode(n);
    this.renderPlay();
  }

  /** @param {import("../page/theme.js").Theme | null} theme */
  restyleMeasure(theme) {
    if (theme) this.root.style.setProperty("--pl-match", theme.match);
  }

  /** @param {import("../types.js").Descriptor} data */
  notice(data) {
    const { busy, message } = data;
    this.note.hidden = !busy && !message;
    this.note.className = `pl-note${message?.kind === "error" ? " pl-bad" : ""}`;
    this.note.setAttribute("role", message?.kind === "error" ? "alert" : "status");
    if (busy) {
      const known = busy.fraction !== null && busy.fraction !== undefined;
      const bar = h("progress", known ? { max: 1, value: busy.fraction } : {});
      fill(
        this.note,
        h("span", busy.text),
        bar,
        known && h("span.pl-num", `${Math.round((busy.fraction ?? 0) * 100)} %`),
        busy.cancel && button("Cancel", "Cancel", () => this.viewer.actions.send("cancel", true)),
      );
    } else if (message) {
      fill(
        this.note,
        h("span", message.text),
        button(
          "Close this note",
          "×",
          () => {
            this.note.hidden = true;
          },
          "pl-x",
        ),
      );
    }
  }

  /** @param {string} text */
  problem(text) {
    this.note.hidden = false;
    this.note.className = "pl-note pl-bad";
    this.note.setAttribute("role", "alert");
    fill(this.note, h("span", text));
  }

  renderAll() {
    const { viewer } = this;
    if (viewer.state.theme) dress(this.root, viewer.state.theme);
    this.passes.render();
    this.renderStep();
    this.stage.headers();
    this.renderSelection();
    this.layoutRight();
    this.stage.invalidate();
    this.film.relight();
    viewer.announcer.twin();
  }

  renderStep() {
    this.scrubber.render();
    this.card.render();
    this.passes.mark();
    if (this.viewer.state.selected !== null) this.renderSelection();
    this.renderPlay();
  }

  /** The card of the selected node or group, and its steps in the scrubber. */
  renderSelection() {
    this.details.render();
    this.groupCard.render();
    this.scrubber.redraw();
  }

  renderPlay() {
    this.scrubber?.renderPlay();
    if (this.viewer.state.only) this.renderSelection();
    for (const [i, tool] of this.tools?.panes.entries() ?? [])
      tool.setAttribute("aria-pressed", String(this.stage.mode === i + 1));
    this.tools?.follow.setAttribute("aria-pressed", String(this.viewer.nav.following));
  }

  twinChanged() {
    this.groupCard.render();
    this.viewer.announcer.twin();
  }

  dispose() {
    this.watch.disconnect();
    window.removeEventListener("resize", this.onResize);
    this.scrubber.dispose();
    this.film.dispose();
  }
}
