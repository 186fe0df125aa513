"""Twelve models for the eligibility check: each cause once, two clean ones."""

from __future__ import annotations

from dataclasses import dataclass

import onnx
from onnx import parser

HEAD = '<ir_version: 8, opset_import: ["": {opset}, "com.microsoft": 1, "own": 1]>'


@dataclass(frozen=True, slots=True)
class Planted:
    """A model in ONNX's text form.

    Attributes:
        rule: the one that it breaks; empty for a clean model.
        severity: of the finding.
        place: name of the node or value at fault.
        refused: whether the runtime refuses to create a session for capturing it.
    """

    name: str
    text: str
    rule: str = ""
    severity: str = "blocks"
    place: str = ""
    refused: bool = False
    opset: int = 17

    def data(self) -> bytes:
        """The model file."""
        model: onnx.ModelProto = parser.parse_model(
            HEAD.replace("{opset}", str(self.opset)) + self.text
        )
        return model.SerializeToString()


PLANTED = (
    Planted(
        "clean",
        """g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] z)
        { y = Conv (x, w) z = Relu (y) }""",
    ),
    Planted(
        "clean, with shapes on the CPU",
        """g (float[2,6] x) => (float[N,M] z) <int64[1] zero = {0}, int64[1] rest = {-1}> {
            y = Relu (x) s = Shape (y) n = Gather <axis = 0> (s, zero)
            t = Concat <axis = 0> (n, rest) z = Reshape (y, t) }""",
    ),
    Planted(
        "a branch",
        """g (bool c, float[3] x) => (float[3] z) {
            [branch] z = If (c) <then_branch = a () => (float[3] p) { p = Relu (x) },
                        else_branch = b () => (float[3] q) { q = Sigmoid (x) }> }""",
        "control-flow", place="branch", refused=True,
    ),
    Planted(
        "a loop in a function in a function",
        """g (float[3] x) => (float[3] z) { y = Relu (x) z = own.outer (y) }
        <domain: "own", opset_import: ["": 17, "own": 1]> outer (a) => (b) { b = own.inner (a) }
        <domain: "own", opset_import: ["": 17]> inner (a) => (b) {
            n = Constant <value_int = 3> ()
            c = Constant <value = bool {1}> ()
            b = Loop (n, c, a) <body = turn (int64 i, bool go, float[3] p) => (bool on, float[3] q)
                { on = Identity (go) q = Relu (p) }> }""",
        "control-flow", refused=True,
    ),
    Planted(
        "an open size",
        "g (float[batch,3] x) => (float[batch,3] z) { y = Relu (x) z = Add (y, y) }",
        "shapes", "condition", "x",
    ),
    Planted(
        "a size that depends on data",
        "g (float[2,3] x) => (int64[2,n] z) { y = Relu (x) [where] z = NonZero (y) }",
        "output-shapes", place="where",
    ),
    Planted(
        "a sequence as output",
        "g (float[3] x) => (seq(float[3]) z) { y = Relu (x) z = SequenceConstruct (y, y) }",
        "tensors", place="z",
    ),
    Planted(
        "an operator without a kernel",
        """g (float[3,3] x) => (float z)
        { y = Relu (x) [det] w = Det (y) z = Relu (w) }""",
        "kernels", place="det", refused=True,
    ),
    Planted(
        "a type without a kernel",
        """g (int32[3,3] x) => (int32[3,3] z)
        { y = Abs (x) [product] w = MatMul (y, y) z = Abs (w) }""",
        "kernels", place="product", refused=True,
    ),
    Planted(
        "a shape computed on the GPU",
        """g (float[2,6] x, int64[2] k) => (float[N,M] z)
        { f = Cast <to = 1> (k) e = Relu (f) j = Cast <to = 7> (e)
          y = Relu (x) [reader] z = Reshape (y, j) }""",
        "copies", place="reader", refused=True,
    ),
    Planted(
        "a search that waits",
        """g (int32[1,4] ids, int32[1] longest) => (int32[1,1,8] z) {
            [search] z = com.microsoft.BeamSearch <eos_token_id = 1, pad_token_id = 0,
                decoder = d (int32[1,4] i) => (float[1,4,8] o)
                { c = Cast <to = 1> (i) s = Constant <value_ints = [1,4,1]> ()
                  r = Reshape (c, s) e = Constant <value_ints = [1,4,8]> () o = Expand (r, e) }>
                (ids, longest) }""",
        "waits", place="search", refused=True,
    ),
    Planted(
        "an argument from an input's value",
        """g (float[6] x, int64[1] from, int64[1] to) => (float[n] z) <int64[1] axis = {0}>
        { y = Relu (x) w = Slice (y, from, to, axis) z = Relu (w) }""",
        "host-values", "condition", "from",
    ),
)  # fmt: skip
