"""What is fused into operators on integers computes what the pairs around operators say."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser

from optimizer.passes.precision.fuse_quantized_operators import FuseQuantizedOperators
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.passes.test_static_quantization import (
    NETWORK,
    SHAPES,
    filled,
    operators,
    rewritten,
    static,
)
from tests.optimizer.running import feeds_for, run
from tests.processors import SUMS_OF_8_BITS


def fused(proto: onnx.ModelProto) -> onnx.ModelProto:
    model = opened(proto)
    trace = optimize(model, Pipeline((FuseQuantizedOperators(),)))
    assert not trace.failed
    return proto_of(model.ir)


@SUMS_OF_8_BITS
def test_a_whole_network_is_operators_on_integers_between_its_ends() -> None:
    network = filled(NETWORK, SHAPES, zero=0.0, six=6.0)
    pairs = rewritten(network, static(network))
    after = fused(pairs)
    assert operators(after) == {
        "QuantizeLinear": 1, "QLinearConv": 2, "QLinearAdd": 1, "QLinearGlobalAveragePool": 1,
        "Flatten": 1, "QGemm": 1,
    }  # fmt: skip
    feeds = feeds_for(network)
    (expected,), (one,), (other,) = (run(model, feeds) for model in (network, pairs, after))
    assert np.abs(one - other).max() < 0.02 * np.abs(expected).max()  # steps rounded otherwise
    assert np.abs(other - expected).max() < 0.05 * np.abs(expected).max()


@SUMS_OF_8_BITS
def test_a_product_with_its_bias_is_one_operator_and_the_same_numbers() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,7,64] x) => (float[2,7,32] y) { a = MatMul(x, w) y = Add(a, b) }"""
    proto = filled(text, {"w": (64, 32), "b": (32,)})
    pairs = rewritten(proto, static(proto))
    after = fused(pairs)
    assert operators(after) == {"QuantizeLinear": 1, "MatMulIntegerToFloat": 1}
    feeds = feeds_for(proto)
    assert np.allclose(run(pairs, feeds)[0], run(after, feeds)[0], atol=1e-4)


def test_a_scale_of_one_element_is_handed_on_as_a_scalar() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (uint8[2,4] x) => (uint8[2,4] y)
        <float[1] s = {0.05}, uint8[1] z = {128}, float[1] t = {0.08}>
        { a = DequantizeLinear(x, s, z) b = Add(a, a) y = QuantizeLinear(b, t, z) }"""
    proto = onnx.parser.parse_model(text)
    after = fused(proto)
    assert operators(after) == {"QLinearAdd": 1}
    feeds = feeds_for(proto)
    (one,), (other,) = run(proto, feeds), run(after, feeds)
    assert np.abs(one.astype(int) - other.astype(int)).max() <= 1


def test_a_bias_has_the_scale_of_the_products_times_alpha() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (uint8[3,2] x) => (float[3,2] y)
        <float s = {0.05}, uint8 z = {128}, int8[2,2] w = {60, 50, -50, 30}, float ws = {0.01},
         int8 wz = {0}, int32[2] b = {1000, -2000}, float bs = {0.001}>
        { a = DequantizeLinear(x, s, z) c = DequantizeLinear(w, ws, wz) d = DequantizeLinear(b, bs)
          y = Gemm<alpha = 2.0>(a, c, d) }"""
    proto = onnx.parser.parse_model(text)
    after = fused(proto)
    assert operators(after) == {"QGemm": 1}
    feeds = feeds_for(proto)
    assert np.allclose(run(proto, feeds)[0], run(after, feeds)[0], atol=1e-4)
