"""Passes that are each other's inverse, and a pair of operators that cancels for every integer."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from optimizer.passes.block.cancel_requantization import CancelRequantization
from optimizer.passes.block.fuse_gemm import FuseMatMulAdd
from optimizer.passes.structure.split_gemm import SplitGemm
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, parsed, printed, proto_of
from tests.optimizer.running import run

SIGNATURE = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 3] x, float[3, 4] w, float[4] b) => (float[N, 4] y)
"""
SPLIT = "{ [p] p = MatMul (x, w) [a] y = Add (p, b) }"
FUSED = "{ [p] y = Gemm (x, w, b) }"


def through(proto: onnx.ModelProto, *passes: Pass) -> onnx.ModelProto:
    for one in passes:
        model = opened(proto)
        optimize(model, Pipeline((one,)))
        proto = proto_of(model.ir)
    return proto


def operators(proto: onnx.ModelProto) -> list[tuple[str, list[str]]]:
    """Operators, and of their inputs those that have names of their own."""
    outside = {value.name for value in proto.graph.input}
    return [(node.op_type, [i for i in node.input if i in outside]) for node in proto.graph.node]


@pytest.mark.parametrize(
    ("text", "passes"),
    [(SPLIT, (FuseMatMulAdd(), SplitGemm())), (FUSED, (SplitGemm(), FuseMatMulAdd()))],
    ids=["fused-and-split", "split-and-fused"],
)
def test_splitting_and_fusing_a_plain_product_gives_it_back(
    text: str, passes: tuple[Pass, Pass]
) -> None:
    source = parsed(SIGNATURE + text)
    half, whole = through(source, passes[0]), through(source, *passes)
    assert operators(half) != operators(source)
    assert operators(whole) == operators(source)
    assert printed(opened(whole).ir).count("Transpose") == 0


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16"])
def test_dequantizing_and_quantizing_alike_gives_every_integer_again(kind: str) -> None:
    ends = np.iinfo(kind)
    integers = np.arange(ends.min, ends.max + 1, dtype=kind)
    generator = np.random.default_rng(0)
    for exponent in (-29, -7, -2, 0, 3, 24):
        scale = generator.uniform(1, 9) * 10.0**exponent
        zero = int(generator.integers(ends.min, ends.max))
        source = parsed(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g ({kind}[N] q) => ({kind}[N] y) <float s = {{{scale:.9g}}}, {kind} z = {{{zero}}}>
        {{ d = DequantizeLinear (q, s, z) r = QuantizeLinear (d, s, z) y = Identity (r) }}
        """)
        (found,) = run(source, {"q": integers})
        assert np.array_equal(found, integers)
        assert [name for name, _ in operators(through(source, CancelRequantization()))] == [
            "Identity"
        ]
