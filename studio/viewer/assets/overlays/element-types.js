// @ts-check
// Element types of values: which nodes compute in how many bits, and where it is converted.

import { Categorical, frequenciesOf } from "./categorical.js";

const USUAL = "float32 float16 int8 int64 bfloat16 uint8 int32 int4 bool".split(" ");
const CONVERTING = /^(Cast|CastLike|DynamicQuantizeLinear|(Dequantize|Quantize)Linear)$/;
const DTYPE = 2; // of the texts of a port

class ElementTypes extends Categorical {
  /** @param {Session} s */
  constructor({ union }) {
    const types = union.recs.map((rec) => rec.out?.[0]?.[DTYPE] ?? "");
    super(frequenciesOf(types), { usual: USUAL, word: "Element type" });
  }

  /** @override @param {Session} s @param {number} o @param {number} port @param {number} step */
  nameOf(s, o, port, step) {
    const { in: inputs, out, cat } = s.history.record(o, step);
    const ports = cat === "io" ? [...(out ?? []), ...(inputs ?? [])] : out;
    return ports?.[port]?.[DTYPE] ?? "";
  }

  /** @override @param {Session} s @param {number} o @param {number} step */
  changeOf(s, o, step) {
    const { op, in: inputs, out } = s.history.record(o, step);
    const [from, to] = [inputs, out].map((ports) => ports?.[0]?.[DTYPE]);
    return CONVERTING.test(op) && from && to && from !== to ? `${from} → ${to}` : "";
  }
}

/** @type {OverlayKind} */
export const ELEMENT_TYPES = {
  id: "element_types",
  title: "Element type",
  heading: "Element type",
  plural: "Element types",
  key: "y",
  available: "always",
  icon: "M2 4h5M4.5 4v8M9 12V8.5a2 2 0 0 1 4 0V12M9 10.5h4",
  ofSession: (s) => new ElementTypes(s),
};
