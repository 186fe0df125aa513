"""Rules without one of their conditions: what they would make of a graph, for Z3 to refute."""

from __future__ import annotations

from dataclasses import dataclass

import onnx
import onnx.parser

from tests.optimizer.proofs.proving import Proof, compared
from tests.optimizer.proofs.theories import Bits, Reals

_HEAD = '<ir_version: 8, opset_import: ["" : 17]> '


@dataclass(frozen=True, slots=True)
class Dropped:
    """A condition of a rule, and a rewrite that only it prevents.

    Attributes:
        pass_id: whose condition.
        condition: in words.
        signature: inputs, outputs and constants of both graphs, as ONNX text.
        before: nodes of the source.
        after: nodes of what would come out.
        exact: whether floats are those of IEEE 754, or real numbers.
    """

    pass_id: str
    condition: str
    signature: str
    before: str
    after: str
    exact: bool = True

    def models(self) -> tuple[onnx.ModelProto, onnx.ModelProto]:
        """Both graphs."""
        first, second = (
            onnx.parser.parse_model(f"{_HEAD} g {self.signature} {{ {body} }}")
            for body in (self.before, self.after)
        )
        return first, second

    def proof(self) -> Proof:
        """What Z3 says."""
        return compared(*self.models(), Bits() if self.exact else Reals())

    def shown(self) -> str:
        """The rewrite in a line."""
        return f"{_line(self.before)} ⇒ {_line(self.after)}"


def _line(body: str) -> str:
    return " ".join(body.split())


_X = "(float[1] x) => (float[1] y)"

DROPPED = (
    Dropped(
        "eliminate-add-zero", "It says `reassociates`, not `exact`: x may be -0",
        f"{_X} <float zero = {{0.0}}>", "y = Add(x, zero)", "y = Identity(x)",
    ),
    Dropped(
        "simplify-algebra", "x * 0 stays",
        f"{_X} <float[1] zero = {{0.0}}>", "y = Mul(x, zero)", "y = Identity(zero)",
    ),
    Dropped(
        "simplify-algebra", "x - x stays",
        f"{_X} <float[1] zero = {{0.0}}>", "y = Sub(x, x)", "y = Identity(zero)",
    ),
    Dropped(
        "simplify-algebra", "x / x stays",
        f"{_X} <float[1] one = {{1.0}}>", "y = Div(x, x)", "y = Identity(one)",
    ),
    Dropped(
        "simplify-algebra", "0 - x is no negation",
        f"{_X} <float zero = {{0.0}}>", "y = Sub(zero, x)", "y = Neg(x)",
    ),
    Dropped(
        "simplify-algebra", "Relu does not make Abs idle: it hands on -0",
        _X, "a = Relu(x) y = Abs(a)", "y = Relu(x)",
    ),
    Dropped(
        "simplify-algebra", "The constant does not broadcast x to another shape",
        "(float[2] x) => (float[a,b] y) <float[1,1] one = {1.0}>",
        "y = Mul(x, one)", "y = Identity(x)",
    ),
    Dropped(
        "simplify-selection", "A comparison of floats under Not is left alone",
        "(float[1] x, float[1] z) => (bool[1] y)",
        "a = Less(x, z) y = Not(a)", "y = GreaterOrEqual(x, z)",
    ),
    Dropped(
        "simplify-selection", "Of the inner choice, the side that the condition takes is kept",
        "(bool[1] c, float[1] a, float[1] b, float[1] d) => (float[1] y)",
        "e = Where(c, a, b) y = Where(c, e, d)", "y = Where(c, b, d)",
    ),
    Dropped(
        "simplify-selection", "A side that is true everywhere gives the result no shape",
        "(float[1] x, bool[1] c) => (float[n] y) <bool[2] all = {1, 1}, float low = {-10000}>",
        "b = And(all, c) y = Where(b, x, low)", "y = Where(c, x, low)",
    ),
    Dropped(
        "recognize-where", "It says `reassociates`, not `exact`: x may be infinite or NaN",
        "(float[1] x, bool[1] c) => (float[1] y)"
        " <float one = {1}, float much = {10000}, float low = {-10000}>",
        "b = Cast <to = 1> (c) a = Mul(x, b) o = Sub(one, b) h = Mul(much, o) y = Sub(a, h)",
        "y = Where(c, x, low)",
    ),
    Dropped(
        "recognize-where", "One factor is 0 or 1 everywhere",
        "(float[1] x, float[1] b) => (float[1] y)"
        " <float one = {1}, float much = {10000}, float low = {-10000}>",
        "a = Mul(x, b) o = Sub(one, b) h = Mul(much, o) y = Sub(a, h)",
        "c = Equal(b, one) y = Where(c, x, low)", exact=False,
    ),
    Dropped(
        "eliminate-noop-cast", "The type in the middle holds every value: float16 in float32",
        _X, "h = Cast <to = 10> (x) y = Cast <to = 1> (h)", "y = Identity(x)",
    ),
    Dropped(
        "eliminate-noop-cast", "The type in the middle holds every value: int32 in double",
        "(int32[1] x) => (int32[1] y)",
        "f = Cast <to = 1> (x) y = Cast <to = 6> (f)", "y = Identity(x)",
    ),
    Dropped(
        "eliminate-noop-cast", "An integer is not reached from an integer through a float",
        "(int8[1] x) => (uint8[1] y)",
        "f = Cast <to = 1> (x) y = Cast <to = 2> (f)", "y = Cast <to = 2> (x)",
    ),
    Dropped(
        "merge-clips", "Both bounds of the first Clip are clipped to those of the second",
        f"{_X} <float zero = {{0}}, float six = {{6}}, float two = {{2}}, float nine = {{9}}>",
        "a = Clip(x, zero, six) y = Clip(a, two, nine)", "y = Clip(x, two, nine)",
    ),
    Dropped(
        "reassociate-constants", "It says `reassociates`, not `exact`: sums are rounded",
        f"{_X} <float p = {{0.1}}, float q = {{0.2}}, float r = {{0.3}}>",
        "a = Add(x, p) y = Add(a, q)", "y = Add(x, r)",
    ),
    Dropped(
        "reassociate-constants", "No factor is extreme: 1024 and 1/1024 in float16",
        "(float16[1] x) => (float16[1] y) <float16 p = {25600}, float16 q = {5120}>",
        "a = Mul(x, p) y = Mul(a, q)", "y = Identity(x)",
    ),
    Dropped(
        "reassociate-constants", "An integer division is left alone",
        "(int32[1] x) => (int32[1] y) <int32 two = {2}>",
        "a = Div(x, two) y = Mul(a, two)", "y = Identity(x)",
    ),
    Dropped(
        "merge-transposes", "The second permutation undoes the first one",
        "(float[2, 2, 2] x) => (float[2, 2, 2] y)",
        "a = Transpose <perm = [1, 2, 0]> (x) y = Transpose <perm = [1, 2, 0]> (a)",
        "y = Identity(x)",
    ),
    Dropped(
        "merge-transposes", "What lies between works element by element",
        "(float[2, 2] x) => (float[2, 2] y) <int64[1] last = {1}>",
        "a = Transpose <perm = [1, 0]> (x) b = ReduceSum <keepdims = 1> (a, last)"
        " c = Sub(a, b) y = Transpose <perm = [1, 0]> (c)",
        "b = ReduceSum <keepdims = 1> (x, last) y = Sub(x, b)", exact=False,
    ),
    Dropped(
        "merge-slices", "No range counts from an end that is not known",
        "(float[3] x) => (float[n] y) <int64[1] s = {0}, int64[1] e = {5}, int64[1] l = {-1},"
        " int64[1] f = {4}, int64[1] far = {100}>",
        "a = Slice(x, s, e) y = Slice(a, l, far)", "y = Slice(x, f, e)",
    ),
    Dropped(
        "merge-pads", "What one takes away on a side the other does not put back",
        "(float[3] x) => (float[3] y) <int64[2] p = {-1, 0}, int64[2] q = {1, 0}>",
        "a = Pad(x, p) y = Pad(a, q)", "y = Identity(x)",
    ),
    Dropped(
        "merge-pads", "Both pad with the same constant",
        "(float[1] x) => (float[3] y) <int64[2] p = {1, 0}, int64[2] q = {0, 1},"
        " int64[2] r = {1, 1}, float one = {1}>",
        "a = Pad(x, p) y = Pad(a, q, one)", "y = Pad(x, r, one)",
    ),
    Dropped(
        "fuse-conv-batch-norm", "epsilon is part of the scale",
        "(float[1, 1, 1, 2] x) => (float[1, 1, 1, 2] y) <float[1] s = {2.0}, float[1] o = {0.0},"
        " float[1] v = {0.25}, float[1, 1, 1, 1] w = {3.0}, float[1, 1, 1, 1] u = {12.0}>",
        "a = Conv(x, w) y = BatchNormalization <epsilon = 0.001> (a, s, o, o, v)",
        "y = Conv(x, u)", exact=False,
    ),
    Dropped(
        "fuse-conv-activation", "Relu does not move over a scale, which may be negative",
        f"{_X} <float w = {{-2.0}}>", "a = Mul(x, w) y = Relu(a)", "a = Relu(x) y = Mul(a, w)",
    ),
)  # fmt: skip
