"""Kernels in Triton: what is written without it; compiled and interpreted where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.schedules.examples.matmul import matmul_bias_relu
from profiling.codegen.kernel import LibraryError
from profiling.codegen.triton_candidate import TritonBinary, build, run, supports, triton_missing
from profiling.codegen.triton_source import triton_program
from profiling.workers import WorkerPool
from tests.profiling.codegen import algorithms
from tests.profiling.codegen.kernel_algorithms import FLOAT, elementwise
from tests.profiling.codegen.test_default_schedule import inputs_of

N, K, B = symbol("n"), symbol("k"), symbol("b")
Shape = tuple[int, ...]
FAMILIES: dict[str, tuple[Algorithm, Sequence[Shape]]] = {
    "softmax": (algorithms.softmax(B, N, K), [(2, 3, 49), (1, 1, 1), (0, 3, 5)]),
    "RMSNorm": (algorithms.rms_norm(N, K), [(3, 7), (0, 5), (2, 1030)]),
    "LayerNorm": (algorithms.layer_norm(N, 96, residual_too=True), [(3, 96), (0, 96)]),
    "channels first": (algorithms.channel_norm(2, 24, N), [(2, 24, 5), (2, 24, 0)]),
    "Gelu": (algorithms.gelu(N, K), [(2, 33), (1, 1), (5, 256)]),
    "SiLU up": (algorithms.silu(N, 100), [(3, 100), (0, 100)]),
    "rotary": (algorithms.rotary(B, N, 48), [(2, 3, 48), (1, 0, 48)]),
    "chain": (algorithms.chain(N), [(1,), (0,), (2001,)]),
    "dequantized": (algorithms.dequantized(N, K), [(3, 33), (1, 1)]),
    "product": (matmul_bias_relu(5, 7, 33), [(5, 33)]),
    "transposed": (algorithms.transposed(B, N, K), [(2, 33, 17), (1, 1, 5), (1, 0, 5)]),
}
NEEDS_TRITON = pytest.mark.skipif(bool(triton_missing()), reason=triton_missing() or "it is here")


def test_elements_are_blocks_transposes_tiles_and_reductions_rows() -> None:
    flat, tiles, rows = (
        triton_program(FAMILIES[name][0]).kernels[0].blocks
        for name in ("chain", "transposed", "softmax")
    )
    assert flat == ((N, 1024),)
    assert tiles == ((K, 32), (N, 32), (B, 1))
    assert rows == ((B * N, 1),)


def test_what_has_no_form_in_triton_is_declined_in_a_sentence() -> None:
    found = supports(elementwise(("fmod",), FLOAT, 2))
    assert found == "Triton has no fmod of elements of type FLOAT."


@pytest.mark.skipif(not triton_missing(), reason="Triton is installed")
def test_without_triton_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(
        LibraryError, match=r"Triton is not installed: pip install passlens\[triton\]"
    ):
        build(algorithms.chain(N), tmp_path)


def _built(folder: Path) -> list[list[TritonBinary]]:
    return [build(algorithm, folder) for algorithm, _ in FAMILIES.values()]


@NEEDS_TRITON
@pytest.mark.slow
def test_every_family_compiles_for_a_gpu_that_is_not_here(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    for kernels in shared_pool.run_fresh(_built, tmp_path):
        assert all(".target sm_90" in kernel.ptx and kernel.cubin for kernel in kernels)


def _interpreted(
    folder: Path, cases: Sequence[tuple[Algorithm, Sequence[Sequence[NDArray[Any]]]]]
) -> list[list[list[NDArray[Any]]]]:
    return [run(algorithm, runs, folder) for algorithm, runs in cases]


@NEEDS_TRITON
@pytest.mark.slow
def test_every_family_agrees_interpreted_special_values_too(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    cases = [
        (
            one,
            [
                inputs_of(one, shape, special=special)
                for shape in shapes
                for special in (False, True)
            ],
        )
        for one, shapes in FAMILIES.values()
    ]
    found = shared_pool.run_fresh(_interpreted, tmp_path, cases)
    for (algorithm, runs), outputs in zip(cases, found, strict=True):
        for inputs, given in zip(runs, outputs, strict=True):
            for one, right in zip(given, evaluate(algorithm, inputs), strict=True):
                np.testing.assert_allclose(one, right, rtol=1e-4, atol=1e-5)
