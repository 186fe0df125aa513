"""Static quantization against its arithmetic in numpy; what it shares, and what it keeps float."""

from __future__ import annotations

import collections

import numpy as np
import onnx
import pytest

from optimizer.passes.precision.quantize_statically import QuantizeStatically
from optimizer.pipeline import Pipeline
from optimizer.precision.quantization import (
    affine,
    dequantized,
    least_scales,
    quantized,
    quantized_bias,
    quantized_rows,
)
from optimizer.precision.ranges import Range
from optimizer.rewrite.driver import Stop, optimize
from tests.optimizer.graphs import opened, parsed, proto_of
from tests.optimizer.observed import configured
from tests.optimizer.running import feeds_for, run

NETWORK = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,12,12] x) => (float[1,5] y) {
    c1 = Conv<pads = [1,1,1,1]>(x, w1, b1)
    r1 = Relu(c1)
    c2 = Conv<pads = [1,1,1,1], group = 8>(r1, w2)
    r2 = Clip(c2, zero, six)
    s = Add(r1, r2)
    p = GlobalAveragePool(s)
    f = Flatten(p)
    y = Gemm<transB = 1>(f, w3, b3)
}"""
SHAPES = {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 1, 3, 3), "w3": (5, 8), "b3": (5,)}


def filled(text: str, shapes: dict[str, tuple[int, ...]], **scalars: float) -> onnx.ModelProto:
    proto, generator = parsed(text), np.random.default_rng(0)
    arrays = {name: generator.normal(0, 0.3, shape) for name, shape in shapes.items()}
    for name, array in {**arrays, **scalars}.items():
        tensor = onnx.numpy_helper.from_array(np.asarray(array, np.float32), name)
        proto.graph.initializer.append(tensor)
    return proto


@pytest.fixture
def network() -> onnx.ModelProto:
    return filled(NETWORK, SHAPES, zero=0.0, six=6.0)


def rewritten(
    proto: onnx.ModelProto, declared: QuantizeStatically, *only: str, limit: int | None = None
) -> onnx.ModelProto:
    model = opened(proto)
    places = {declared.id: frozenset(only)} if only else {}
    trace = optimize(model, Pipeline((declared,), places=places), stop=Stop(limit=limit))
    assert not trace.failed
    return proto_of(model.ir)


def operators(proto: onnx.ModelProto) -> collections.Counter[str]:
    return collections.Counter(node.op_type for node in proto.graph.node)


def static(proto: onnx.ModelProto) -> QuantizeStatically:
    found = configured(QuantizeStatically, proto)
    assert isinstance(found, QuantizeStatically)
    return QuantizeStatically(found.ranges)


def test_a_product_is_what_numpy_makes_of_the_same_integers() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[7,64] x) => (float[7,32] y) { a = MatMul(x, w) y = Add(a, b) }"""
    proto = filled(text, {"w": (64, 32), "b": (32,)})
    w, b = (onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer)
    x = feeds_for(proto)["x"]
    (found,) = run(rewritten(proto, QuantizeStatically((("x", -1.5, 2.0),))), {"x": x})
    by = affine(Range(-1.5, 2.0), "uint8")
    rows, scales = quantized_rows(w.T, floor=least_scales(b, by.scale))
    both = scales * np.float32(by.scale)
    products = (quantized(x, by).astype(np.int32) - by.zero_point) @ rows.T.astype(np.int32)
    assert np.allclose(found, (products + quantized_bias(b, both)) * both, atol=1e-5)
    assert not np.allclose(found, x @ w + b, atol=1e-2)


def test_a_convolution_s_result_is_what_saturates_at_its_relu() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[1,4,5,5] x) => (float[1,6,5,5] r) { c = Conv(x, w, b) r = Relu(c) }"""
    proto = filled(text, {"w": (6, 4, 1, 1), "b": (6,)})
    w, b = (onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer)
    x = feeds_for(proto)["x"]
    declared = QuantizeStatically((("x", -2.0, 2.0), ("r", 0.0, 1.0)))
    after = rewritten(proto, declared)
    assert operators(after)["Relu"] == 0
    (found,) = run(after, {"x": x})
    by = affine(Range(-2.0, 2.0), "uint8")
    rows, scales = quantized_rows(w.reshape(6, 4))
    real = np.einsum("oc,nchw->nohw", rows * scales[:, None], dequantized(quantized(x, by), by))
    end = affine(Range(0.0, 1.0), "uint8")
    expected = dequantized(quantized(real + b.reshape(1, 6, 1, 1), end), end)
    assert np.abs(found - expected).max() <= end.scale * 1.001  # half a step, rounded either way
    assert (found == 1.0).any()
    assert (found == 0.0).any()


def test_everything_between_convolutions_reads_and_makes_integers(
    network: onnx.ModelProto,
) -> None:
    after = rewritten(network, static(network))
    # x, r1, r2, s and what Flatten makes of p; weights and biases of three products
    assert operators(after) == {
        "QuantizeLinear": 5, "DequantizeLinear": 5 + 5, "Conv": 2, "Add": 1,
        "GlobalAveragePool": 1, "Flatten": 1, "Gemm": 1,
    }  # fmt: skip
    feeds = feeds_for(network)
    (before,), (found,) = run(network, feeds), run(after, feeds)
    assert np.abs(before - found).max() < 0.05 * np.abs(before).max()


def test_after_every_step_the_model_runs_and_is_close(network: onnx.ModelProto) -> None:
    feeds, declared = feeds_for(network), static(network)
    (before,) = run(network, feeds)
    seen: list[int] = []
    for limit in range(7):
        after = rewritten(network, declared, limit=limit)
        (found,) = run(after, feeds)
        assert np.abs(before - found).max() < 0.05 * np.abs(before).max()
        seen.append(operators(after)["QuantizeLinear"])
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert seen[-1] == 5


def test_nodes_that_are_not_named_stay_float(network: onnx.ModelProto) -> None:
    after = rewritten(network, static(network), "n2")
    assert operators(after)["QuantizeLinear"] == 2
    assert operators(after)["Relu"] == 1


def test_a_clip_that_cuts_less_than_its_range_stays() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[1,4,5,5] x) => (float[1,6,5,5] r) { c = Conv(x, w) r = Clip(c, low, high) }"""
    proto = filled(text, {"w": (6, 4, 1, 1)}, low=0.5, high=2.0)
    declared = QuantizeStatically((("x", -2.0, 2.0), ("c", -1.0, 2.0), ("r", 0.5, 2.0)))
    assert operators(rewritten(proto, declared))["Clip"] == 1


def test_signed_activations_have_a_zero_point_of_0(network: onnx.ModelProto) -> None:
    declared = QuantizeStatically(static(network).ranges, activations="int8", per_channel=False)
    after = rewritten(network, declared)
    zeros = [t for t in after.graph.initializer if "zero_point" in t.name]
    assert {t.data_type for t in zeros} == {onnx.TensorProto.INT8, onnx.TensorProto.INT32}
    assert all(not onnx.numpy_helper.to_array(t).any() for t in zeros)
    feeds = feeds_for(network)
    (before,), (found,) = run(network, feeds), run(after, feeds)
    assert np.abs(before - found).max() < 0.08 * np.abs(before).max()
