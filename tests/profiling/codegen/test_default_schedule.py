"""Families of kernels in the default order, compiled by Halide, against NumPy."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.loops.scheduling import default_schedule
from profiling.codegen.kernel import CpuLevel
from profiling.codegen.levels import cpu_level, levels_here
from profiling.workers import WorkerPool
from tests.optimizer.fusion.regions import region_of
from tests.profiling.codegen import algorithms
from tests.profiling.codegen.halide_calls import results

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.long,
]
N, K, B = symbol("n"), symbol("k"), symbol("b")
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-40, 3e38, -3e38, -10000], np.float32)
Shape = tuple[int, ...]

TURNED = """<ir_version: 10, opset_import: ["" : 18]>
rows (float[b,3,2,n] x) => (y) <int64[2] axes = {1, 3}> {
    turned = Transpose <perm = [0, 3, 2, 1]> (x)
    y = ReduceLogSumExp (turned, axes)
}"""

FAMILIES: dict[str, tuple[Callable[[], Algorithm], Sequence[Shape]]] = {
    "softmax": (
        lambda: algorithms.softmax(B, N, K),
        [(2, 5, 49), (1, 1, 1), (0, 3, 5), (3, 0, 4), (3, 4, 64), (2, 3, 130)],
    ),
    "softmax of short rows": (lambda: algorithms.softmax(B, N, 49), [(2, 5, 49), (0, 1, 49)]),
    "softmax of rows in several vectors": (
        lambda: algorithms.softmax(B, N, 203),
        [(2, 3, 203)],
    ),
    "RMSNorm": (lambda: algorithms.rms_norm(N, K), [(3, 7), (0, 5), (1, 1), (2, 2049)]),
    "LayerNorm and the sum": (
        lambda: algorithms.layer_norm(N, 96, residual_too=True),
        [(3, 96), (1, 96), (0, 96)],
    ),
    "channel-first norm": (
        lambda: algorithms.channel_norm(2, 24, N),
        [(2, 24, 49), (2, 24, 1), (2, 24, 0), (2, 24, 130)],
    ),
    "norm of pixels": (lambda: algorithms.pixel_norm(33, 3, 17), [(33, 3, 17)]),
    "norm of pixels of long rows": (lambda: algorithms.pixel_norm(96, 2, 91), [(96, 2, 91)]),
    "norm of pixels of short rows": (lambda: algorithms.pixel_norm(7, 2, 5), [(7, 2, 5)]),
    "norm of pixels in one row": (
        lambda: algorithms.pixel_norm(20, 3, 13, merged=True),
        [(20, 3, 13)],
    ),
    "Gelu of pixels in one row": (lambda: algorithms.pixel_gelu(19, 3, 12), [(19, 3, 12)]),
    "bias + Gelu": (lambda: algorithms.gelu(N, K), [(2, 33), (1, 1), (0, 7), (5, 256)]),
    "SiLU up": (lambda: algorithms.silu(N, 100), [(3, 100), (0, 100), (200, 100)]),
    "rotary": (lambda: algorithms.rotary(B, N, 48), [(2, 3, 48), (1, 0, 48)]),
    "chain": (lambda: algorithms.chain(N), [(1,), (0,), (37,), (20001,)]),
    "dequantized": (lambda: algorithms.dequantized(N, K), [(3, 33), (1, 1), (20, 1000)]),
    "transposed": (lambda: algorithms.transposed(B, N, K), [(2, 33, 17), (1, 1, 5), (1, 0, 5)]),
    "transposed in squares": (lambda: algorithms.transposed(B, 33, 17), [(2, 33, 17), (0, 33, 17)]),
    "keys": (lambda: algorithms.keys(19, 3, 17), [(19, 51)]),
    "images": (lambda: algorithms.images(9, 4, 11), [(44, 9)]),
    "channels of pixels between pixels": (
        lambda: algorithms.enlarged(19, 3, 5, 2, turned=True),
        [(1, 15, 19)],
    ),
    "pixels between pixels": (
        lambda: algorithms.enlarged(3, 2, 5, 4, turned=False),
        [(1, 3, 2, 5)],
    ),
    "column sum": (lambda: algorithms.column_sum(N, K), [(5, 130), (1, 3), (0, 5), (4, 17)]),
    "planes and their mirror": (
        lambda: algorithms.mirrored(N, 3, 17),
        [(5, 3, 17), (1, 3, 17), (0, 3, 17)],
    ),
    "log of a sum over rows that lie turned": (
        lambda: region_of(TURNED)[0],
        [(2, 3, 2, 37), (1, 3, 2, 1)],
    ),
    "scan": (lambda: algorithms.scan(4, N, 16), [(4, 19, 16), (4, 1, 16)]),
}


def inputs_of(algorithm: Algorithm, shape: Shape, *, special: bool) -> list[NDArray[Any]]:
    """Of a shape of the first input; the others have the same sizes."""
    rng = np.random.default_rng(0)
    sizes = {str(size): one for size, one in zip(algorithm.inputs[0].shape, shape, strict=True)}
    made: list[NDArray[Any]] = []
    for tensor in algorithm.inputs:
        extents = [size if isinstance(size, int) else sizes[str(size)] for size in tensor.shape]
        data = (
            rng.uniform(-2, 2, extents)
            if tensor.dtype.is_floating_point()
            else rng.integers(0, 255, extents)
        )
        made.append(np.asarray(data).astype(tensor.dtype.numpy()))
    if special and made[0].dtype == np.float32 and made[0].size:
        flat = made[0].reshape(-1)
        flat[:: max(1, flat.size // len(SPECIAL))] = np.resize(
            SPECIAL, flat[:: max(1, flat.size // len(SPECIAL))].size
        )
    return made


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_in_the_default_order_is_right_on_this_processor_and_at_every_shape(
    family: str, shared_pool: WorkerPool
) -> None:
    _hold(family, [cpu_level()], shared_pool)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_in_the_default_order_is_right_at_every_level_and_shape(
    family: str, shared_pool: WorkerPool
) -> None:
    _hold(family, levels_here(), shared_pool)


def _hold(family: str, levels: Sequence[CpuLevel], pool: WorkerPool) -> None:
    make, shapes = FAMILIES[family]
    algorithm = make()
    cases = [
        inputs_of(algorithm, shape, special=special)
        for shape in shapes
        for special in (False, True)
    ]
    found = pool(results, algorithm, default_schedule(algorithm), levels, cases)
    expected = [evaluate(algorithm, inputs) for inputs in cases]
    for level in found:
        for given, wanted, inputs in zip(level, expected, cases, strict=True):
            for one, other in zip(given, wanted, strict=True):
                shape = [array.shape for array in inputs]
                np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6, err_msg=str(shape))
