"""Weights stored in few bits: what the file holds, and what it computes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from optimizer.passes.precision.store_weights import (
    StoreEmbeddingsIn8Bits,
    StoreWeightsIn4Bits,
    StoreWeightsIn8Bits,
)
from optimizer.pipeline import Pipeline
from optimizer.precision.quantization import quantized_blocks, quantized_rows
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.passes.test_static_quantization import filled
from tests.optimizer.running import run

PRODUCT = """<ir_version: 10, opset_import: ["" : 21]>
g (float[3,80] x) => (float[3,16] y) { y = MatMul(x, w) }"""
LOOKUP = """<ir_version: 8, opset_import: ["" : 17]>
g (int64[2,7] x) => (float[2,7,64] y) { y = Gather(table, x) }"""


def after(proto: onnx.ModelProto, declared: Pass) -> onnx.ModelProto:
    model = opened(proto)
    assert optimize(model, Pipeline((declared,))).steps == 1
    return proto_of(model.ir)


@pytest.mark.parametrize("standard", [False, True])
@pytest.mark.parametrize(
    ("kind", "bits", "error"), [(StoreWeightsIn4Bits, 4, 0.16), (StoreWeightsIn8Bits, 8, 0.016)]
)
def test_a_product_is_that_of_the_numbers_that_are_stored(
    kind: type[StoreWeightsIn4Bits | StoreWeightsIn8Bits], bits: int, error: float, standard: bool
) -> None:
    proto = filled(PRODUCT, {"w": (80, 16)})
    weight = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    x = np.random.default_rng(1).normal(size=(3, 80)).astype(np.float32)
    (found,) = run(after(proto, kind(standard=standard)), {"x": x})
    if standard and bits == 8:
        rows, scales = quantized_rows(weight.T)
        stored = (rows * scales[:, None]).T
    else:
        blocks, scales = quantized_blocks(weight.T, block=32, bits=bits)
        stored = (blocks * scales[:, :, None]).reshape(16, -1)[:, :80].T
    rounding = 1e-5 if standard else 0.02  # the kernel quantizes the rows, too
    assert np.abs(found - x @ stored).max() < rounding * np.abs(found).max()
    assert np.abs(found - x @ weight).max() < error * np.abs(found).max()


def test_a_table_of_embeddings_is_a_quarter_and_each_row_has_its_own_scale() -> None:
    proto = filled(LOOKUP, {"table": (500, 64)})
    table = onnx.numpy_helper.to_array(proto.graph.initializer[0]).copy()
    table[::2] *= 1e-3
    proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(table, "table"))
    small = after(proto, StoreEmbeddingsIn8Bits())
    assert small.ByteSize() < 0.28 * proto.ByteSize()
    index = np.random.default_rng(1).integers(0, 500, (2, 7))
    (found,) = run(small, {"x": index})
    error = np.abs(found - table[index]).max(axis=-1)
    assert (error <= np.abs(table[index]).max(axis=-1) / 254 * 1.001).all()
