// @ts-check
// Another primitive: its kind, its Func, and what that kind asks for. Loops are those of the nest at
// the step that is shown, after which it goes.

import { fill, h, select } from "../page/dom.js";
import { inserted } from "./list-edits.js";
import { KINDS, OF_A_NEST, tiled } from "./kinds.js";
import { freeName, funcsOf, loopsOf, readersOf } from "./offered-loops.js";

/** @typedef {import("./kinds.js").Field} Field */

export class AddForm {
  /** @param {import("./lab-state.js").LabState} state */
  constructor(state) {
    this.state = state;
    this.kind = KINDS[0];
    this.func = "";
    /** @type {Record<string, any>} what was chosen or typed */ this.told = {};
    this.fields = h("div.sl-fields");
    this.said = "";
    const kinds = KINDS.map(({ id, title }) => [id, title]);
    this.kinds = select("Kind of primitive", kinds, this.kind.id, (id) => this.#choose(id));
    this.funcs = select("Func", [], "", (name) => this.#of(name));
    this.head = h("div.sl-kind", this.kinds, this.funcs);
    this.does = h("p.pl-dim");
    this.submit = h("button.sl-add", { type: "submit" });
    this.form = h(
      "form.sl-form",
      { "aria-label": "Add a primitive", onsubmit: (/** @type {Event} */ e) => this.#add(e) },
      this.head,
      this.does,
      this.fields,
      this.submit,
    );
    this.submit.type = "submit";
    this.el = h("details.sl-adding", h("summary", "Add a primitive (a)"), this.form);
    state.watch(["step", "data"], () => this.render());
  }

  /** Ready to be told of a new primitive. */
  focus() {
    this.el.open = true;
    this.kinds.focus();
  }

  render() {
    const { state } = this;
    const funcs = funcsOf(state);
    if (!funcs.length) return;
    const inputs = state.data?.subject.inputs.map(({ name }) => name) ?? [];
    const offered = this.kind.id === "in" ? inputs : funcs;
    if (!offered.includes(this.func)) this.func = offered.at(-1) ?? "";
    // The two lists stay as they are while somebody looks for a word in them.
    if ([...this.funcs.options].map(({ value }) => value).join() !== offered.join())
      fill(
        this.funcs,
        offered.map((name) => h("option", { value: name }, name)),
      );
    this.funcs.value = this.func;
    this.does.textContent = this.kind.does;
    this.#renderFields();
    fill(this.submit, `Add after ${state.step ? `primitive ${this.#row()}` : "none"}`);
  }

  /** What the kind asks for; the field that has the keyboard keeps it. */
  #renderFields() {
    const active = /** @type {any} */ (this.el.getRootNode()).activeElement?.name;
    const said = JSON.stringify(
      this.kind.fields.map((field) => [field.name, this.#value(field), this.#choices(field)]),
    );
    if (said === this.said) return;
    this.said = said;
    fill(
      this.fields,
      this.kind.fields.map((field) => this.#field(field)),
    );
    this.fields.querySelector(`[name="${active}"]`)?.focus();
  }

  /** How many of the list come before it. */
  #row() {
    const { applied, step } = this.state;
    return step ? (applied[step - 1] ?? -1) + 1 : 0;
  }

  /** @param {string} id */
  #choose(id) {
    this.kind = KINDS.find((one) => one.id === id) ?? KINDS[0];
    this.told = {};
    this.render();
  }

  /** @param {string} func */
  #of(func) {
    this.func = func;
    this.told = {};
    this.render();
  }

  /** @param {Field} field */
  #field(field) {
    return h("label", h("span", field.label), this.#control(field));
  }

  /** @param {Field} field */
  #control(field) {
    const value = this.#value(field);
    const { name } = field;
    const told = (/** @type {any} */ text) => {
      this.told[name] = text;
      this.render();
    };
    if (field.kind === "size" || field.kind === "name" || field.kind === "loops") {
      const number =
        field.kind === "size" ? { type: "number", min: 0, step: 1, required: true } : {};
      const props = {
        name,
        value,
        ...number,
        oninput: (/** @type {any} */ e) => (this.told[name] = e.target.value),
      };
      return h("input", { "aria-label": field.label, autocomplete: "off", ...props });
    }
    return select(field.label, this.#choices(field), value, told, { name });
  }

  /** @param {Field} field @returns {string[][]} */
  #choices({ kind, choices }) {
    if (kind === "size" || kind === "name" || kind === "loops") return [];
    if (kind === "choice") return (choices ?? []).map((one) => [one, one.replaceAll("_", " ")]);
    if (kind === "reader") return readersOf(this.state, this.func).map((one) => [one, one]);
    const func = kind === "reader-loop" ? this.#reader : this.func;
    return loopsOf(this.state, func).map(({ name, nest, extent }) => [
      kind === "reader-loop" ? name : `${nest}|${name}`,
      `${name} · ${extent}${nest ? " (combines)" : ""}`,
    ]);
  }

  get #reader() {
    return this.told.reader ?? readersOf(this.state, this.func)[0] ?? "";
  }

  /** What a field says: as told, if that can still be chosen. @param {Field} field @returns {string} */
  #value(field) {
    const told = this.told[field.name];
    if (field.kind === "size") return told ?? String(field.value);
    if (field.kind === "loops") return told ?? this.#order();
    if (field.kind === "name") return told ?? this.#name(field);
    const offered = this.#choices(field).map(([value]) => value);
    if (offered.includes(told)) return told;
    const second = field.name === "columns" || (field.name === "inner" && field.kind === "loop");
    return offered[second ? 1 : 0] ?? "";
  }

  /** All loops as they stand, to be put in another order. */
  #order() {
    const loops = loopsOf(this.state, this.func);
    const last = Math.max(...loops.map(({ nest }) => nest));
    return loops
      .filter(({ nest }) => nest === last)
      .map(({ name }) => name)
      .join(", ");
  }

  /** @param {Field} field */
  #name({ suffix, name }) {
    const chosen = this.kind.fields.find(({ kind }) => kind === "loop");
    const loop = chosen ? this.#value(chosen).split("|")[1] : this.func;
    const stem = this.kind.id === "r_factor" && name === "made" ? this.func : loop;
    return freeName(this.state, this.func, `${stem ?? ""}${suffix ?? ""}`);
  }

  /** @param {Event} e */
  #add(e) {
    e.preventDefault();
    const { state } = this;
    const added = this.#primitives();
    const row = this.#row();
    const draft = inserted(state.draft, row, added);
    state.say(`Added ${draft.texts[row]}.`);
    this.told = {};
    state.edit(draft, state.step + added.length);
  }

  /** @returns {import("./types.js").Primitive[]} */
  #primitives() {
    /** @type {Record<string, any>} */
    const told = { func: this.func, nest: 0 };
    for (const field of this.kind.fields) {
      const value = this.#value(field);
      if (field.kind === "size") told[field.name] = Math.trunc(Number(value));
      else if (field.kind === "loops") told[field.name] = value.split(/[\s,]+/).filter(Boolean);
      else if (field.kind === "loop")
        [told.nest, told[field.name]] = [Number(value.split("|")[0]), value.split("|")[1] ?? ""];
      else told[field.name] = value;
    }
    if (this.kind.id === "tile") return tiled(told);
    if (this.kind.id === "reorder") told.nest = this.#nestOf(told.loops[0]);
    if (!OF_A_NEST.has(this.kind.id)) delete told.nest;
    const { func, ...fields } = told;
    return [{ primitive: this.kind.id, func, ...fields }];
  }

  /** @param {string} loop */
  #nestOf(loop) {
    const loops = loopsOf(this.state, this.func).filter(({ name }) => name === loop);
    return loops.at(-1)?.nest ?? 0;
  }
}
