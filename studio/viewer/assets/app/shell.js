// @ts-check
// The frame: left what I choose, middle what I look at, right what it is, below the scrubber.

import { Card } from "../panels/step-card.js";
import { Details } from "../panels/details.js";
import { button, h } from "../page/dom.js";
import { FilmPanel } from "../film/panel.js";
import { giveFocusBack } from "../page/keyboard.js";
import { GroupCard } from "../panels/group-card.js";
import { Help } from "../panels/help.js";
import { Legend } from "../overlays/legend.js";
import { Note } from "../panels/note.js";
import { Passes } from "../panels/passes.js";
import { Scrubber } from "../scrubber/scrubber.js";
import { Search } from "../panels/search.js";
import { applyColours } from "../page/theme.js";
import { Announcer } from "./announcer.js";
import { commandsOf } from "./commands.js";
import { makeTools } from "./tools.js";
import { Tooltip } from "../panels/tooltip.js";

const NARROW = 1150; // below, the passes hide
const ROOMY = 1400; // below, the panels are slimmer: the graph is the hero
const TIGHT = 900; // below, both panels hide
const LEAST_H = 420;

export class Shell {
  /** @param {Context} context @param {Stage} stage */
  constructor(context, stage) {
    this.state = context.state;
    this.actions = context.actions;
    this.stage = stage;
    this.mode = "rewrite";
    /** @type {{left?: boolean, right?: boolean}} what the user wants; else it goes by width */
    this.wanted = {};
    this.tip = new Tooltip();
    this.announcer = new Announcer(context);
    this.passes = new Passes(context, this.tip);
    this.card = new Card(context);
    this.details = new Details(context);
    this.groupCard = new GroupCard(context);
    this.scrubber = new Scrubber(context, this.tip);
    this.film = new FilmPanel(context, stage, this.tip);
    this.search = new Search(context);
    this.note = new Note(context);
    this.help = new Help(() => commandsOf(context, this));
    this.tools = makeTools(context, this);
    const skip = () => this.scrubber.bar.canvas.focus();
    this.left = h(
      "aside.pl-left",
      { "aria-label": "Passes" },
      button("Skip the passes", "To the steps", skip, "pl-skip"),
      this.passes.el,
    );
    this.right = h("aside.pl-right", { "aria-label": "Details" }, [
      ...[this.search, this.card, this.details, this.groupCard].map(({ el }) => el),
      this.announcer.details,
    ]);
    this.body = h("div.pl-body", this.left, this.#middle(context), this.film.el, this.right);
    this.root = h(
      "div.pl-root",
      { tabindex: 0, role: "region", "aria-label": "Graph viewer, press question mark for keys" },
      this.body,
      this.scrubber.el,
      this.film.bar.el,
      this.announcer.line,
      this.help.el,
      this.tip.el,
      h("div.pl-ring"),
    );
    this.onResize = () => this.fillWindow();
    window.addEventListener("resize", this.onResize);
    this.widthSeen = 0;
    stage.host = this;
    this.#watch();
    giveFocusBack(this.root);
  }

  /** @param {Context} context */
  #middle(context) {
    const { el: legend } = new Legend(context);
    const parts = [this.stage.el, this.tools.el, legend, this.note.el, this.actions.vetoing.el];
    return h("section.pl-middle", { "aria-label": "Graph" }, parts);
  }

  #watch() {
    const { state } = this;
    state.watch(["step"], () => this.renderStep());
    state.watch(["playing", "only"], () => this.renderPlay());
    state.watch(["folding"], () => this.groupCard.render());
    state.watch(["marks"], () => this.stage.invalidate());
    state.watch(["panels"], () => this.applyPanels());
    state.watch(["chosen"], () => this.#showSelection());
    state.watch(["card"], () => this.right.scrollTo(0, 0));
    state.watch(["focus"], () => this.root.focus({ preventScroll: true }));
    state.watch(["selected", "overlays", "wanted"], () => {
      this.renderSelection();
      this.layoutRight();
      this.stage.invalidate();
    });
    this.observer = new ResizeObserver(() => {
      if (Math.abs(this.root.clientWidth - this.widthSeen) <= 1) return;
      this.widthSeen = this.root.clientWidth;
      this.fillWindow();
    });
    this.observer.observe(this.root);
  }

  /** What was clicked in a pane. @param {Box | null} box */
  pick(box) {
    const id = box?.rec?.id ?? box?.group?.id ?? null;
    if (this.mode === "film") this.film.pick(id);
    else this.actions.select(id);
  }

  /** What is under the pointer. @param {Box | null} box @param {MouseEvent | null} event @param {Which} which */
  hover(box, event, which) {
    const { session: s, overlay } = this.state;
    const value = s && box ? overlay?.values(s, which)(box) : null;
    const number = overlay && value ? overlay.text(value) : "";
    const around = box && event ? this.stage.rectOf(box, which) : undefined;
    this.tip.node(s, box, event, which, { number, around });
  }

  /** Take the height that the window has left, so that the page itself never scrolls. */
  fillWindow() {
    const top = this.root.getBoundingClientRect().top + window.scrollY;
    const inside = this.root.closest?.("[data-fixed-height]");
    const room = inside ? inside.clientHeight : window.innerHeight;
    const height = Math.max(LEAST_H, Math.floor(room - Math.max(0, top) - 8));
    this.root.style.height = `${height}px`;
    this.applyPanels();
  }

  /** @param {"model" | "rewrite" | "film"} mode */
  setMode(mode) {
    const changed = this.mode !== mode;
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
    const left = this.mode === "rewrite" && (this.wanted.left ?? wide);
    const chosen = this.state.selected !== null;
    const asked =
      this.mode === "film"
        ? chosen && width >= ROOMY
        : chosen || (this.mode === "rewrite" && width >= TIGHT);
    const right = this.search.active || (this.wanted.right ?? asked);
    this.left.hidden = !left;
    this.root.classList.toggle("pl-leftless", !left);
    this.right.hidden = !right;
    const [leftWidth, rightWidth] = width >= ROOMY ? [280, 320] : [248, wide ? 272 : 260];
    const middle = this.mode === "film" ? "minmax(200px, 32%) minmax(0, 1fr)" : "minmax(0, 1fr)";
    this.body.style.gridTemplateColumns = `${left ? `${leftWidth}px ` : ""}${middle}${right ? ` ${rightWidth}px` : ""}`;
    this.tools.left.setAttribute("aria-pressed", String(left));
    this.tools.right.setAttribute("aria-pressed", String(right));
  }

  /** @param {"left" | "right"} side */
  toggle(side) {
    this.wanted[side] = this[side].hidden;
    this.applyPanels();
  }
  layoutRight() {
    this.card.el.classList.toggle("pl-short", this.state.selected !== null);
    this.applyPanels();
  }

  /** Bring the card of what was selected just now into sight, whatever stands above it. */
  #showSelection() {
    const { selection } = this.state;
    if (!selection) return;
    const { el } = selection.group ? this.groupCard : this.details;
    const [is, frame] = [el.getBoundingClientRect(), this.right.getBoundingClientRect()];
    const top = frame.top + this.search.el.offsetHeight;
    if (is.bottom > frame.bottom || is.top < top) this.right.scrollTop += is.top - top;
  }

  escape() {
    if (this.search.active) this.search.close();
    else this.actions.select(null);
    this.state.changed("focus");
  }

  /** @param {1 | 2 | 3} n */
  setPanes(n) {
    this.stage.setMode(n);
    this.renderPlay();
  }

  renderAll() {
    const { theme } = this.state;
    if (theme) applyColours(this.root, theme);
    this.passes.render();
    this.renderStep();
    this.stage.headers();
    this.renderSelection();
    this.layoutRight();
    this.stage.invalidate();
    this.film.relight();
    this.announcer.twin();
  }

  renderStep() {
    this.scrubber.render();
    this.card.render();
    this.passes.mark();
    if (this.state.selected !== null) this.renderSelection();
    this.renderPlay();
  }

  /** The card of the selected node or group, and its steps in the scrubber. */
  renderSelection() {
    this.details.render();
    this.groupCard.render();
    this.scrubber.redraw();
  }

  renderPlay() {
    this.scrubber.renderPlay();
    if (this.state.only) this.renderSelection();
    for (const [i, tool] of this.tools.panes.entries())
      tool.setAttribute("aria-pressed", String(this.stage.mode === i + 1));
    this.tools.follow.setAttribute("aria-pressed", String(this.actions.following));
  }

  dispose() {
    this.observer?.disconnect();
    window.removeEventListener("resize", this.onResize);
    this.scrubber.bar.dispose();
    this.film.dispose();
  }
}
