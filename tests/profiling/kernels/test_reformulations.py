from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

from optimizer.precision.quantization import packed_blocks, quantized_rows
from optimizer.verify import Tolerance, jobs
from profiling.config import RunConfig
from profiling.kernels.hotspots import find_hotspots
from profiling.kernels.reformulations import BY_ID
from profiling.kernels.rewriting import Substitute, Written, write_changed, written_alone
from profiling.racing.race import Variant
from profiling.workers import WorkerPool
from tests.processors import SUMS_OF_8_BITS
from tests.profiling.kernels.models import floats

Make = Callable[..., bytes]


def worst(first: Any, second: Any, pool: WorkerPool, tolerance: Tolerance) -> float:
    """Largest difference relative to the scale; fails where it is too large."""
    _, check = pool(jobs.verify_models, first, second, jobs.Request(seeds=3), tolerance)
    assert check.failure == ""
    assert [output.reason for output in check.outputs if not output.ok] == []
    return max(output.scaled for output in check.outputs)


def written(model: bytes, identity: str, pool: WorkerPool) -> Written:
    return pool(written_alone, model, RunConfig(), [identity])[identity]


def operators(model: bytes) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(model).graph.node]


PRODUCT = "g (float[3,7,64] x) => (float[3,7,48] y) { a = MatMul(x, w) y = Add(a, b) }"
GEMM = "g (float[5,64] x) => (float[5,48] y) { y = Gemm<transB=1>(x, w, b) }"
POINTWISE = "g (float[2,16,9,9] x) => (float[2,24,5,5] y) { y = Conv<strides=[2,2]>(x, w, b) }"
SPATIAL = """g (float[2,16,9,9] x) => (float[2,24,9,9] y) {
    a = Conv<pads=[1,1,1,1]>(x, w, b)
    y = Relu(a)
}"""
WEIGHTS = {
    PRODUCT: {"w": floats(64, 48), "b": floats(48, seed=1)},
    GEMM: {"w": floats(48, 64), "b": floats(48, seed=1)},
    POINTWISE: {"w": floats(24, 16, 1, 1), "b": floats(24, seed=1)},
    SPATIAL: {"w": floats(24, 16, 3, 3), "b": floats(24, seed=1)},
}


@pytest.mark.parametrize(
    ("body", "identity", "expected"),
    [
        (PRODUCT, "matmul-gemm", ["Reshape", "Gemm", "Reshape"]),
        (PRODUCT, "transposed-gemm", ["Reshape", "Gemm", "Reshape"]),
        (PRODUCT, "matmul-conv", ["Transpose", "Conv", "Transpose"]),
        pytest.param(PRODUCT, "matmul-int8", ["DynamicQuantizeMatMul"], marks=SUMS_OF_8_BITS),
        (PRODUCT, "matmul-4-bit", ["MatMulNBits", "Add"]),
        (GEMM, "gemm-matmul", ["MatMul", "Add"]),
        (GEMM, "transposed-gemm", ["Gemm"]),
        (GEMM, "matmul-conv", ["Reshape", "Transpose", "Conv", "Transpose", "Reshape"]),
        pytest.param(GEMM, "matmul-int8", ["DynamicQuantizeMatMul"], marks=SUMS_OF_8_BITS),
        (POINTWISE, "conv-matmul", ["Slice", "Reshape", "MatMul", "Add", "Reshape"]),
        (
            SPATIAL,
            "conv-int8",
            ["DynamicQuantizeLinear", "ConvInteger", "Cast", "Mul", "Mul", "Add", "Relu"],
        ),
    ],
)
def test_a_reformulation_uses_other_operators_and_computes_the_same(
    body: str,
    identity: str,
    expected: list[str],
    write_model: Make,
    shared_pool: WorkerPool,
) -> None:
    model = write_model(body, WEIGHTS[body])
    found = written(model, identity, shared_pool)
    assert found.reason == ""
    assert operators(found.model) == expected
    difference = worst(model, found.model, shared_pool, BY_ID[identity].tolerance)
    assert (difference > 1e-4) == BY_ID[identity].lossy


@pytest.mark.parametrize("identity", ["fused-attention", "scaled-product"])
def test_attention_written_anew_in_its_model_computes_the_same(
    identity: str, attention: bytes, shared_pool: WorkerPool, tmp_path: Any
) -> None:
    hot = find_hotspots(Variant("m", attention), isolate=shared_pool)
    operator = next(o for o in hot.operators if o.workload.kind == "Attention")
    found = written(operator.model, identity, shared_pool)
    assert worst(operator.model, found.model, shared_pool, Tolerance()) < 1e-5
    target = tmp_path / "whole.onnx"
    change = Substitute(operator.nodes, identity)
    (changed,) = shared_pool(write_changed, attention, [change], target, {"note": "kept"})
    assert changed.places == 1
    whole = onnx.load(target)
    assert "Softmax" not in [n.op_type for n in whole.graph.node] or identity == "scaled-product"
    assert whole.metadata_props[0].value == "kept"
    assert worst(attention, target, shared_pool, Tolerance()) < 1e-5


def test_all_places_of_a_workload_are_written_anew_and_old_weights_leave_the_file(
    write_model: Make, shared_pool: WorkerPool, tmp_path: Any
) -> None:
    model = write_model(
        """g (float[1,16,12,12] x) => (float[1,16,12,12] y) {
            a = Conv(x, w1)
            b = Relu(a)
            c = Conv(b, w2)
            y = Relu(c)
        }""",
        {"w1": floats(16, 16, 1, 1), "w2": floats(16, 16, 1, 1, seed=1)},
    )
    hot = find_hotspots(Variant("m", model), isolate=shared_pool)
    target = tmp_path / "whole.onnx"
    change = Substitute(hot.operators[0].nodes, "conv-matmul")
    (changed,) = shared_pool(write_changed, model, [change], target, {})
    assert changed.places == 2
    whole = onnx.load(target)
    assert [n.op_type for n in whole.graph.node].count("Conv") == 0
    assert {tensor.name for tensor in whole.graph.initializer}.isdisjoint({"w1", "w2"})
    assert worst(model, target, shared_pool, Tolerance()) < 1e-5


@pytest.mark.parametrize(
    ("body", "weights", "identity", "reason"),
    [
        (SPATIAL, WEIGHTS[SPATIAL], "conv-matmul", "only a 1×1"),
        (
            "g (float[2,8,4,4] x) => (float[2,8,4,4] y) { y = Conv<group=8>(x, w) }",
            {"w": floats(8, 1, 1, 1)},
            "conv-matmul",
            "groups",
        ),
        (
            "g (float[4,64] x, float[64,8] w) => (float[4,8] y) { y = MatMul(x, w) }",
            {},
            "matmul-gemm",
            "computed, not constant",
        ),
        (GEMM, WEIGHTS[GEMM], "matmul-gemm", "a Gemm already"),
        (PRODUCT, WEIGHTS[PRODUCT], "gemm-matmul", "nothing like it here"),
        (
            "g (float[4,64] x) => (float[4,8] y) { y = Gemm<alpha=2.0>(x, w) }",
            {"w": floats(64, 8)},
            "transposed-gemm",
            "scales",
        ),
    ],
)
def test_a_block_that_cannot_be_written_so_is_left_with_the_reason(
    body: str,
    weights: dict[str, Any],
    identity: str,
    reason: str,
    write_model: Make,
    shared_pool: WorkerPool,
) -> None:
    found = written(write_model(body, weights), identity, shared_pool)
    assert found.model == b""
    assert reason in found.reason


def test_sizes_that_are_free_in_the_file_are_not_written_into_it(
    write_model: Make, shared_pool: WorkerPool, tmp_path: Any
) -> None:
    body = "g (float[batch,length,64] x) => (float[batch,length,48] y) { y = MatMul(x, w) }"
    model = write_model(body, {"w": floats(64, 48)})
    hot = find_hotspots(Variant("m", model), isolate=shared_pool)
    change = Substitute(hot.operators[0].nodes, "matmul-gemm")
    (changed,) = shared_pool(write_changed, model, [change], tmp_path / "w.onnx", {})
    assert changed.places == 0
    assert changed.reasons == ("more than one of its sizes is free in the file",)


def test_a_16_bit_type_without_kernels_of_its_own_is_no_candidate(
    write_model: Make, shared_pool: WorkerPool
) -> None:
    found = written(write_model(GEMM, WEIGHTS[GEMM]), "float16", shared_pool)
    assert "Cast" in operators(found.model)
    if "AMX" not in found.missing and found.missing:
        assert "no kernel of this type" in found.missing


def test_rows_are_quantized_to_within_half_a_step() -> None:
    weight = floats(6, 40)
    weight[2] = 0
    numbers, scales = quantized_rows(weight)
    assert numbers.dtype == np.int8
    assert np.abs(numbers * scales[:, None] - weight).max() <= scales.max() / 2 + 1e-7
    assert not numbers[2].any()


def test_4_bit_blocks_unpack_to_within_half_a_step() -> None:
    weight = floats(3, 70)
    packed, scales = packed_blocks(weight, block=32)
    assert packed.shape == (3, 3, 16)
    numbers = np.stack([packed & 15, packed >> 4], axis=-1).reshape(3, 3, 32).astype(np.int32) - 8
    restored = (numbers * scales.reshape(3, 3, 1)).reshape(3, 96)[:, :70]
    assert np.abs(restored - weight).max() <= scales.max() / 2 + 1e-6
