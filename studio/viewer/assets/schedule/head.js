// @ts-check
// What is scheduled, with which schedule, what it teaches; and what can be done with it.

import { button, fill, h, iconButton } from "../page/dom.js";
import { openFile, save } from "../page/files.js";
import { saveSchedule } from "./files.js";

/** @typedef {import("./types.js").LabData} LabData */

const UNDO = "M6 4 3 7l3 3M3 7h6.5a3.5 3.5 0 0 1 0 7H7";
const REDO = "m10 4 3 3-3 3M13 7H6.5a3.5 3.5 0 0 0 0 7H9";
const REGIONS = "regions of the open model";

export class Head {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.subject = h("select", {
      "aria-label": "Algorithm",
      onchange: () => this.#chosen(this.subject.value, ""),
    });
    this.order = h("select", {
      "aria-label": "Schedule",
      onchange: () => this.#chosen(this.subject.value, this.order.value),
    });
    this.undo = iconButton("Undo (Ctrl+Z)", UNDO, () => state.post("undo", null));
    this.redo = iconButton("Redo (Ctrl+Shift+Z)", REDO, () => state.post("redo", null));
    this.export = h(
      "select",
      { "aria-label": "Export a program", onchange: () => this.#export() },
      [
        ["", "Export…"],
        ["python", "Halide Python"],
        ["cpp", "Halide C++"],
      ].map(([value, text]) => h("option", { value }, text)),
    );
    this.told = h("p.sl-told");
    this.problem = h("p.sl-problem", { role: "status" });
    const files = [
      button("Save the schedule as a file", "Save", () => this.#save()),
      button("Open a schedule's file", "Open", () => this.#open()),
    ];
    this.el = h(
      "header.sl-head",
      h(
        "div.sl-choice",
        this.subject,
        this.order,
        h("span.sl-tools", this.undo, this.redo, files, this.export),
      ),
      this.told,
      this.problem,
    );
    /** @type {number} of the last program that was saved */ this.saved = 0;
    this.said = "";
    state.watch(["data"], () => this.render());
  }

  render() {
    const { data } = this.state;
    if (!data) return;
    this.#choices(data);
    const { subject } = data;
    const told = subject.orders.find(({ name }) => name === subject.order)?.teaches ?? "";
    fill(this.told, subject.teaches, told && h("span", h("b", ` ${subject.order}: `), told));
    this.problem.textContent = data.busy ? `Looking for regions: ${data.busy}.` : data.problem;
    this.problem.classList.toggle("sl-busy", data.busy !== "");
    this.problem.hidden = !this.problem.textContent;
    this.undo.disabled = !data.undo;
    this.redo.disabled = !data.redo;
    const { exported } = data;
    if (exported && exported.number > this.saved && this.saved > 0)
      save(exported.name, exported.text);
    this.saved = Math.max(this.saved, exported?.number ?? 0, 1);
  }

  /** @param {LabData} data */
  #choices({ offered, subject }) {
    const said = JSON.stringify([offered, subject.id, subject.order, subject.orders]);
    if (said === this.said) return;
    this.said = said;
    const option = (
      /** @type {string} */ value,
      /** @type {string} */ text,
      /** @type {string} */ chosen,
    ) => h("option", { value, selected: value === chosen }, text);
    fill(
      this.subject,
      offered.map(({ title, subjects }) =>
        h(
          "optgroup",
          { label: title },
          subjects.map(({ id, title: text }) => option(id, text, subject.id)),
        ),
      ),
      offered.length < 2 && option(REGIONS, "Regions of the open model…", ""),
    );
    this.subject.value = subject.id;
    fill(
      this.order,
      subject.orders.map(({ name }) => option(name, name, subject.order)),
    );
  }

  /** @param {string} subject @param {string} order */
  #chosen(subject, order) {
    if (subject === REGIONS) {
      this.subject.value = this.state.data?.subject.id ?? "";
      this.state.post("regions", null);
    } else this.state.post("subject", { subject, order });
  }

  /** @param {string} problem */
  tell(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = false;
  }

  #save() {
    const { draft, data } = this.state;
    const name = `${data?.subject.id ?? "schedule"}-${data?.subject.order ?? ""}`.replace(
      /[^A-Za-z0-9.-]+/g,
      "-",
    );
    saveSchedule(draft, name);
  }

  #open() {
    openFile(
      "schedule",
      (text) => this.state.post("file", { text }),
      (why) => this.tell(why),
    );
  }

  #export() {
    const language = this.export.value;
    this.export.value = "";
    if (language) this.state.post("export", { language, number: Date.now() });
  }
}
