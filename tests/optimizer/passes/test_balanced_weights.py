"""Equalization, smoothing and bias correction against the formulas of their papers, in numpy."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from optimizer.passes.precision.equalize_channels import EqualizeChannels
from optimizer.passes.precision.quantize_statically import QuantizeStatically
from optimizer.passes.precision.smooth_activations import SmoothActivations
from optimizer.pipeline import Pipeline
from optimizer.precision.quantization import quantized_rows
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.observed import observed
from tests.optimizer.passes.test_static_quantization import filled
from tests.optimizer.running import feeds_for, run

PAIR = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,9,9] x) => (float[1,5,7,7] y) { c = Conv(x, w, b) r = Relu(c) y = Conv(r, v) }"""
NORMALIZED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[6,16] x) => (float[6,8] y, float[6,4] z) {
    h = LayerNormalization(x, g, b)
    y = MatMul(h, w)
    z = Gemm<transB = 1>(h, v)
}"""


def after(proto: onnx.ModelProto, declared: Pass) -> onnx.ModelProto:
    model = opened(proto)
    trace = optimize(model, Pipeline((declared,)))
    assert trace.steps
    assert not trace.failed
    return proto_of(model.ir)


def weights(proto: onnx.ModelProto) -> list[np.ndarray]:
    """Second inputs of the products, in order."""
    arrays = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}
    products = [n for n in proto.graph.node if n.op_type in ("Conv", "Gemm", "MatMul")]
    return [arrays[node.input[1]] for node in products]


def test_after_equalization_both_weights_of_a_channel_reach_the_root_of_their_product() -> None:
    proto = filled(PAIR, {"w": (8, 3, 1, 1), "b": (8,), "v": (5, 8, 3, 3)})
    spread = np.logspace(-2, 2, 8).astype(np.float32)
    w = onnx.numpy_helper.to_array(proto.graph.initializer[0]) * spread.reshape(-1, 1, 1, 1)
    proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(w, "w"))
    first, second = weights(proto)
    equal = after(proto, EqualizeChannels())
    made, read = weights(equal)
    largest = np.abs(made).max(axis=(1, 2, 3))
    expected = np.sqrt(np.abs(first).max(axis=(1, 2, 3)) * np.abs(second).max(axis=(0, 2, 3)))
    assert np.allclose(largest, expected, rtol=1e-5)
    assert np.allclose(np.abs(read).max(axis=(0, 2, 3)), expected, rtol=1e-5)
    feeds = feeds_for(proto)
    assert np.allclose(run(proto, feeds)[0], run(equal, feeds)[0], rtol=1e-4, atol=1e-3)


def test_equalization_makes_one_scale_for_all_channels_lose_less() -> None:
    proto = filled(PAIR, {"w": (8, 3, 1, 1), "b": (8,), "v": (5, 8, 3, 3)})
    spread = np.logspace(-1.5, 1.5, 8).astype(np.float32).reshape(-1, 1, 1, 1)
    w, v = weights(proto)
    for index, array in ((0, w * spread), (2, v / spread.reshape(1, 8, 1, 1))):
        tensor = proto.graph.initializer[index]
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    feeds = feeds_for(proto)
    (expected,) = run(proto, feeds)

    def error(model: onnx.ModelProto) -> float:
        rows = tuple((n, float(a.min()), float(a.max())) for n, a in observed(model).items())
        static = after(model, QuantizeStatically(rows, per_channel=False))
        return float(np.square(run(static, feeds)[0] - expected).sum())

    assert error(after(proto, EqualizeChannels())) < 0.1 * error(proto)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.8])
def test_smoothing_divides_by_the_paper_s_factor_and_computes_the_same(alpha: float) -> None:
    proto = filled(NORMALIZED, {"g": (16,), "b": (16,), "w": (16, 8), "v": (4, 16)})
    feeds = feeds_for(proto)
    before = np.abs(observed(proto)["h"]).max(axis=0)
    declared = SmoothActivations((("h", tuple(before.tolist())),), alpha=alpha)
    smooth = after(proto, declared)
    assert [node.op_type for node in smooth.graph.node] == ["LayerNormalization", "MatMul", "Gemm"]
    w, v = weights(proto)
    rows = np.maximum(np.abs(w).max(axis=1), np.abs(v).max(axis=0))
    scale = before**alpha / rows ** (1 - alpha)
    for found, old in zip(weights(smooth), (w * scale[:, None], v * scale), strict=True):
        assert np.allclose(found, old, rtol=1e-5)
    normal = next(a for n, a in observed(smooth).items() if n == smooth.graph.node[0].output[0])
    assert np.allclose(np.abs(normal).max(axis=0), before / scale, rtol=1e-4)
    for one, other in zip(run(proto, feeds), run(smooth, feeds), strict=True):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("groups", [1, 4])
def test_a_corrected_bias_takes_back_the_mean_that_rounded_weights_add(groups: int) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[32,4,6,6] x) => (float[32,8,6,6] y) {{ y = Conv<group = {groups}>(x, w, b) }}"""
    proto = filled(text, {"w": (8, 4 // groups, 1, 1), "b": (8,)})
    (w,) = weights(proto)
    x = np.random.default_rng(1).normal(2, 1, (32, 4, 6, 6)).astype(np.float32)
    (expected,) = run(proto, {"x": x})
    mean = x.mean(axis=(0, 2, 3))
    ranges = (("x", -8.0, 8.0), ("y", float(expected.min()), float(expected.max())))
    declared = QuantizeStatically(ranges, per_channel=False, weight_bits=4)
    corrected = QuantizeStatically(
        ranges, per_channel=False, weight_bits=4, means=(("x", tuple(mean.tolist())),)
    )
    rows, scales = quantized_rows(w.reshape(1, -1), bits=4)
    error = (rows * scales[:, None]).reshape(w.shape) - w
    met = mean.reshape(groups, -1).repeat(8 // groups, axis=0)[:, :, None, None]
    added = (error * met).sum(axis=(1, 2, 3))
    plain, better = (
        (run(after(proto, one), {"x": x})[0] - expected).mean(axis=(0, 2, 3))
        for one in (declared, corrected)
    )
    assert np.abs(added).max() > 0.045
    assert np.allclose(plain, added, atol=0.02)
    assert np.allclose(better, 0, atol=0.02)
