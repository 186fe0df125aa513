"""Patterns with one thing in the way, planted by hand: asked why, the trace names that thing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from optimizer.pipeline import Pipeline
from optimizer.registry import find
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.named_nodes import node_called
from optimizer.rewrite.why import why
from tests.optimizer.graphs import opened


@dataclass(frozen=True, slots=True)
class Planted:
    """A near miss.

    Attributes:
        pass_id: the pass that would fire but for one thing.
        said: what its reason has to name, in lower case.
        graph: ONNX text without its header.
        opset: of the model.
        node: the pattern's last node, by its output.
    """

    pass_id: str
    said: str
    graph: str
    opset: int = 17
    node: str = "y"


CONV = "<float[1,1,1,1] w = {2}, float[1] s = {1}, float[1] b = {0}, float[1] v = {1}>"
IMAGE = "float[1,1,4,4]"
ROWS = "float[2,3]"
PADS = "<int64[8] p = {0,0,1,1,0,0,1,1}, float[1,1,1,1] w = {2}>"
GELU = "<float h = {0.5}, float one = {1}, float r = {1.4142135}>"


def planted(
    pass_id: str,
    said: str,
    inputs: str,
    outputs: str,
    nodes: str,
    weights: str = "",
    *,
    opset: int = 17,
    node: str = "y",
) -> Planted:
    text = f"g ({inputs}) => ({outputs}) {weights} {{ {nodes} }}"
    return Planted(pass_id, said, text, opset, node)


NEAR_MISSES = [
    planted(
        "fuse-conv-batch-norm", "second consumer", f"{IMAGE} x", f"{IMAGE} y, {IMAGE} z",
        "c = Conv(x, w) y = BatchNormalization(c, s, b, b, v) z = Relu(c)", CONV,
    ),
    planted(
        "fuse-conv-batch-norm", "graph output", f"{IMAGE} x", f"{IMAGE} y, {IMAGE} c",
        "c = Conv(x, w) y = BatchNormalization(c, s, b, b, v)", CONV,
    ),
    planted(
        "fuse-conv-batch-norm", "computed by relu", f"{IMAGE} x, float[1,1,1,1] k", f"{IMAGE} y",
        "r = Relu(k) c = Conv(x, r) y = BatchNormalization(c, s, b, b, v)", CONV,
    ),
    planted(
        "fuse-conv-batch-norm", "weight is a graph input: 'k'",
        "float[1,1,4,4] x, float[1,1,1,1] k", f"{IMAGE} y",
        "c = Conv(x, k) y = BatchNormalization(c, s, b, b, v)", CONV,
    ),
    planted(
        "fuse-conv-batch-norm", "training", f"{IMAGE} x", f"{IMAGE} y",
        "c = Conv(x, w) y, m, n = BatchNormalization<training_mode = 1>(c, s, b, b, v)", CONV,
    ),
    planted(
        "fuse-conv-activation", "second consumer", f"{IMAGE} x", f"{IMAGE} y, {IMAGE} z",
        "c = Conv(x, w) y = Relu(c) z = Neg(c)", CONV,
    ),
    planted(
        "fuse-conv-activation", "float32 only", "double[1,1,4,4] x", "double[1,1,4,4] y",
        "c = Conv(x, w) y = Relu(c)", "<double[1,1,1,1] w = {2}>",
    ),
    planted(
        "fuse-conv-activation-cpu", "bounds of clip", f"{IMAGE} x, float low", f"{IMAGE} y",
        "c = Conv(x, w) y = Clip(c, low)", CONV,
    ),
    planted(
        "fuse-matmul-add", "batched", "float[2,2,3] x", "float[2,2,2] y",
        "p = MatMul(x, w) y = Add(p, b)",
        "<float[3,2] w = {1,2,3,4,5,6}, float[2] b = {1,2}>",
    ),
    planted(
        "fuse-matmul-add", "second consumer", f"{ROWS} x", "float[2,2] y, float[2,2] z",
        "p = MatMul(x, w) y = Add(p, b) z = Relu(p)",
        "<float[3,2] w = {1,2,3,4,5,6}, float[2] b = {1,2}>",
    ),
    planted(
        "fuse-matmul-add", "3 dimensions", f"{ROWS} x", "float[1,2,2] y",
        "p = MatMul(x, w) y = Add(p, b)",
        "<float[3,2] w = {1,2,3,4,5,6}, float[1,1,2] b = {1,2}>",
    ),
    planted(
        "fuse-matmul-add", "enlarges", "float[1,3] x", "float[2,2] y",
        "p = MatMul(x, w) y = Add(p, b)",
        "<float[3,2] w = {1,2,3,4,5,6}, float[2,2] b = {1,2,3,4}>",
    ),
    planted(
        "fuse-matmul-add", "not known", "float[1,3] x, float[N,2] b", "float[N,2] y",
        "p = MatMul(x, w) y = Add(p, b)", "<float[3,2] w = {1,2,3,4,5,6}>",
    ),
    planted(
        "fuse-pad-conv", "not known beforehand", f"{IMAGE} x, int64[8] q", "float[1,1,6,6] y",
        "c = Pad(x, q) y = Conv(c, w)", PADS,
    ),
    planted(
        "fuse-pad-conv", "fills in", f"{IMAGE} x", "float[1,1,6,6] y",
        "c = Pad(x, p, f) y = Conv(c, w)",
        "<int64[8] p = {0,0,1,1,0,0,1,1}, float[1,1,1,1] w = {2}, float f = {1}>",
    ),
    planted(
        "fuse-pad-conv", "constant", f"{IMAGE} x", "float[1,1,6,6] y",
        'c = Pad<mode = "reflect">(x, p) y = Conv(c, w)', PADS,
    ),
    planted(
        "fuse-pad-conv", "auto_pad", f"{IMAGE} x", "float[1,1,6,6] y",
        'c = Pad(x, p) y = Conv<auto_pad = "SAME_UPPER">(c, w)', PADS,
    ),
    planted(
        "fuse-pad-conv", "negative", f"{IMAGE} x", "float[1,1,2,2] y",
        "c = Pad(x, p) y = Conv(c, w)",
        "<int64[8] p = {0,0,-1,-1,0,0,-1,-1}, float[1,1,1,1] w = {2}>",
    ),
    planted(
        "fuse-pad-conv", "batch or the channels", f"{IMAGE} x", "float[3,1,4,4] y",
        "c = Pad(x, p) y = Conv(c, w)",
        "<int64[8] p = {1,0,0,0,1,0,0,0}, float[1,1,1,1] w = {2}>",
    ),
    planted(
        "fuse-pad-conv", "maxpool", f"{IMAGE} x", "float[1,1,5,5] y",
        "c = Pad(x, p) y = MaxPool<kernel_shape = [2,2]>(c)", PADS,
    ),
    planted(
        "merge-clips", "second consumer", f"{ROWS} x", f"{ROWS} y, {ROWS} z",
        "a = Relu(x) y = Clip(a, low, high) z = Neg(a)", "<float low = {0}, float high = {6}>",
    ),
    planted(
        "merge-clips", "not constant", f"{ROWS} x, float low", f"{ROWS} y",
        "a = Clip(x, low) y = Clip(a, zero)", "<float zero = {0}>",
    ),
    planted(
        "reassociate-constants", "second consumer", f"{ROWS} x", f"{ROWS} y, {ROWS} z",
        "a = Mul(x, two) y = Mul(a, three) z = Neg(a)", "<float two = {2}, float three = {3}>",
    ),
    planted(
        "reassociate-constants", "remainder", "int64[4] x", "int64[4] y",
        "a = Div(x, two) y = Mul(a, three)", "<int64 two = {2}, int64 three = {3}>",
    ),
    planted(
        "eliminate-dropout", "training_mode is true", f"{ROWS} x", f"{ROWS} y",
        "a = Neg(x) b = Dropout(a, ratio, on) y = Neg(b)",
        "<float ratio = {0.5}, bool on = {1}>", node="b",
    ),
    planted(
        "eliminate-dropout", "not a constant", f"{ROWS} x, bool on", f"{ROWS} y",
        "a = Neg(x) b = Dropout(a, ratio, on) y = Neg(b)", "<float ratio = {0.5}>", node="b",
    ),
    planted(
        "eliminate-dropout", "mask", f"{ROWS} x", f"{ROWS} y, bool[2,3] mask",
        "a = Neg(x) y, mask = Dropout(a)",
    ),
    planted(
        "eliminate-identity", "graph input", f"{ROWS} x", f"{ROWS} y", "y = Identity(x)"
    ),
    planted(
        "eliminate-identity", "two graph outputs", f"{ROWS} x", f"{ROWS} y, {ROWS} a",
        "a = Neg(x) y = Identity(a)",
    ),
    planted(
        "eliminate-noop-cast", "may change values", f"{ROWS} x", f"{ROWS} y",
        "a = Cast<to = 10>(x) y = Cast<to = 1>(a)",
    ),
    planted(
        "eliminate-noop-cast", "int32", "int32[4] x", "int32[4] y",
        "a = Cast<to = 1>(x) y = Cast<to = 6>(a)",
    ),
    planted(
        "eliminate-noop-slice", "reverses", "float[4] x", "float[4] y",
        "y = Slice(x, start, end, axis, step)",
        "<int64[1] start = {-1}, int64[1] end = {-9}, int64[1] axis = {0}, int64[1] step = {-1}>",
    ),
    planted(
        "eliminate-noop-expand", "'seq' before", "float[1,seq] x", "float[1,128] y",
        "y = Expand(x, shape)", "<int64[2] shape = {1,128}>",
    ),
    planted(
        "eliminate-noop-squeeze", "'n'", "float[N,3] x", "float[M] y", "y = Squeeze(x)"
    ),
    planted(
        "eliminate-noop-transpose", "only axes of size 1", "float[1,3,1,2] x", "float[3,1,1,2] y",
        "y = Transpose<perm = [1,0,2,3]>(x)",
    ),
    planted(
        "eliminate-noop-pad", "shift", "float[4] x", "float[4] y",
        "y = Pad(x, p)", "<int64[2] p = {1,-1}>",
    ),
    planted(
        "simplify-algebra", "broadcasts", "float[3] x", "float[1,1,3] y",
        "a = Mul(x, one) y = Neg(a)", "<float[1,1,1] one = {1}>", node="a",
    ),
    planted(
        "recognize-gelu", "opset 20", f"{ROWS} x", f"{ROWS} y",
        "d = Div(x, r) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, h)", GELU,
    ),
    planted(
        "recognize-gelu", "another consumer", f"{ROWS} x", f"{ROWS} y, {ROWS} z",
        "d = Div(x, r) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, h) z = Neg(a)",
        GELU, opset=20,
    ),
    planted(
        "eliminate-common-subexpressions", "graph outputs", f"{ROWS} x", f"{ROWS} a, {ROWS} y",
        "a = Neg(x) y = Neg(x)",
    ),
    planted(
        "fold-constants", "by zero", "int64[1] x", "int64[1] y",
        "d = Div(one, zero) y = Add(x, d)", "<int64[1] one = {1}, int64[1] zero = {0}>",
        node="d",
    ),
    planted(
        "fold-constants", "limit", "float[1] x", "float[99999,99999] y",
        "e = Expand(one, big) y = Add(x, e)",
        "<float[1] one = {1}, int64[2] big = {99999,99999}>",
        node="e",
    ),
]  # fmt: skip


@pytest.mark.parametrize("near", NEAR_MISSES, ids=lambda n: f"{n.pass_id}: {n.said}")
def test_what_is_in_the_way_is_named(near: Planted) -> None:
    declared = find(near.pass_id)
    assert declared is not None
    text = f'<ir_version: 8, opset_import: ["" : {near.opset}]> {near.graph}'
    trace = optimize(opened(text), Pipeline((declared(),)))
    assert trace.state is not None
    told = why(trace, node_called(trace.state, near.node))
    reasons = [look.reason.lower() for look in told.looks]
    assert any(near.said in reason for reason in reasons), reasons
    assert {look.verdict for look in told.looks} <= {"declined", "refused"}
