// @ts-check
// One quiet tooltip for canvases: what is under the pointer, in full.

import { fill, h } from "./dom.js";
import { warmthText } from "./heat.js";
import { counted } from "./numbers.js";

const DELAY_MS = 280;

export class Tooltip {
  constructor() {
    this.el = h("div.pl-tip", { role: "tooltip", hidden: true });
    this.timer = 0;
  }

  /**
   * @param {(Node | string)[]} content
   * @param {{clientX: number, clientY: number}} at
   * @param {number} [delay]
   */
  show(content, at, delay = DELAY_MS) {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(
      () => {
        fill(this.el, ...content);
        this.el.hidden = false;
        const { width, height } = this.el.getBoundingClientRect();
        const x = Math.min(at.clientX + 14, window.innerWidth - width - 8);
        const y =
          at.clientY + 18 + height > window.innerHeight
            ? at.clientY - height - 10
            : at.clientY + 18;
        this.el.style.left = `${x}px`;
        this.el.style.top = `${y}px`;
      },
      this.el.hidden ? delay : 0,
    );
  }

  hide() {
    window.clearTimeout(this.timer);
    this.el.hidden = true;
  }

  /**
   * @param {import("./session.js").Session | null} s @param {import("./place.js").Box | null} box
   * @param {MouseEvent | null} event @param {import("./session.js").Which} which
   * @param {import("./heat.js").Warmth | null} [warm]
   */
  node(s, box, event, which, warm = null) {
    if (!s || !box || !event) {
      this.hide();
      return;
    }
    if (box.group) {
      const g = box.group.at;
      const change = [s.plus[g] ? `+${s.plus[g]}` : "", s.minus[g] ? `−${s.minus[g]}` : ""]
        .filter(Boolean)
        .join(" ");
      this.show(
        [
          h("b", null, box.group.name),
          h(
            "div",
            null,
            `${counted(s.counts(which)[g], "node")}${change ? `, ${change} since ${s.before === "source" ? "source" : "the step before"}` : ""}`,
          ),
          warm ? h("div", null, warmthText(warm)) : "",
          h("div.pl-dim", null, box.kind === "open" ? "Click to close" : "Click to open"),
        ],
        event,
      );
      return;
    }
    const rec = /** @type {import("./types.js").NodeRecord} */ (box.rec);
    const lines = [
      h("b", null, rec.cat === "io" ? rec.name : rec.op),
      rec.brief ? h("span", null, ` ${rec.brief}`) : "",
      h("div.pl-dim", null, rec.name),
    ];
    for (const row of rec.rows ?? []) lines.push(h("div", null, row));
    const out = rec.out?.[0];
    if (out && rec.cat !== "io") lines.push(h("div", null, `→ ${out[2]} ${out[3]}`));
    if (warm) lines.push(h("div", null, warmthText(warm)));
    this.show(lines, event);
  }
}
