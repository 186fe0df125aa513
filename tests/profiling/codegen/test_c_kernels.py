"""Kernels of plain loops in C, as custom operators in ONNX Runtime, against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.loops.scalar import BOOL
from profiling.codegen.kernel import Kernel
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import build_library
from profiling.workers import WorkerPool
from tests.profiling.codegen import kernel_algorithms as made
from tests.profiling.codegen import library_jobs as jobs
from tests.profiling.codegen.kernel_algorithms import BFLOAT, FLOAT, HALF

pytestmark = pytest.mark.long

Array = np.ndarray[Any, Any]
Case = tuple[Kernel, list[list[Array]]]
INT8, UINT8, INT32 = ir.DataType.INT8, ir.DataType.UINT8, ir.DataType.INT32
INT64, DOUBLE = ir.DataType.INT64, ir.DataType.DOUBLE

SPECIAL = [
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    1e-40,
    3e38,
    -3e38,
    88.7,
    -104.0,
    0.5,
    1.5,
    2.5,
    -2.5,
]
RNG = np.random.default_rng(0)


def _numbers(dtype: ir.DataType, count: int = 67) -> Array:
    if dtype == BOOL:
        return RNG.integers(0, 2, count).astype(bool)
    if np.issubdtype(dtype.numpy(), np.integer):
        info = np.iinfo(dtype.numpy())
        inner = RNG.integers(info.min, info.max, count, dtype=dtype.numpy(), endpoint=True)
        return np.concatenate([inner, np.array([info.min, info.max, 0, 1], dtype.numpy())])
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL).astype(dtype.numpy())
    return np.concatenate([made.floats(RNG, [count], dtype), special])


def _pairs(dtype: ir.DataType) -> list[Array]:
    """Of integers, none without a quotient, and no lowest one: NumPy has no magnitude of it."""
    one = _numbers(dtype)
    if np.issubdtype(dtype.numpy(), np.integer):
        one = one[(one != 0) & (one != np.iinfo(dtype.numpy()).min)]
    return [np.repeat(one, 9), np.resize(np.roll(one, 5), 9 * len(one))]


def _case(name: str, algorithm: Algorithm, *feeds: Sequence[Array]) -> Case:
    return made.plain(name, algorithm), [list(one) for one in feeds]


def _functions() -> list[Case]:
    kinds = (FLOAT, HALF, BFLOAT, DOUBLE, INT8, UINT8, INT32, INT64, BOOL)
    numbers = [kind for kind in kinds if kind not in (HALF, BOOL)]
    whole = [kind for kind in numbers if np.issubdtype(kind.numpy(), np.integer)]
    compared = (*made.BINARY, *made.COMPARING)
    cases = [
        *(
            _case(f"unary_{d.name}", made.elementwise((*made.UNARY, "is_nan"), d, 1), [_numbers(d)])
            for d in (FLOAT, HALF)
        ),
        *(_case(f"binary_{d.name}", made.elementwise(compared, d, 2), _pairs(d)) for d in numbers),
        *(_case(f"whole_{d.name}", made.elementwise(made.WHOLE, d, 2), _pairs(d)) for d in whole),
        *(
            _case(f"cast_{d.name}", made.casting(d, [k for k in kinds if k != d]), [_castable(d)])
            for d in kinds
        ),
        _case(
            "reduced_bool",
            made.reducing(("any", "all"), BOOL),
            [RNG.integers(0, 4, (6, 4)).astype(bool)],
        ),
    ]
    for dtype in (FLOAT, HALF, INT32, UINT8):
        rows = _numbers(dtype)[:66].reshape(6, 11)
        algorithm = made.reducing(("sum", "product", "max", "min"), dtype)
        cases.append(_case(f"reduced_{dtype.name}", algorithm, [rows]))
    return cases


def _castable(dtype: ir.DataType) -> Array:
    """What NumPy and C agree about: floats that fit into any integer."""
    if np.issubdtype(dtype.numpy(), np.integer) or dtype == BOOL:
        return _numbers(dtype)
    return np.array([0.0, -0.0, 1.9, 100.0, 0.5] * 3).astype(dtype.numpy())


def _families() -> list[Case]:
    def f(*shape: int) -> Array:
        return made.floats(RNG, shape, FLOAT)

    sizes = [0, 1, 7, 64, 131]
    masks = np.where(RNG.random((5, 131)) < 0.5, -10000.0, 0.0).astype(np.float32)
    return [
        _case(
            "softmax",
            made.masked_softmax(),
            *([f(n, 5, k), f(5, k)] for n in (0, 1, 3) for k in (1, 7, 64)),
            [f(3, 5, 131), masks],
        ),
        _case("fixed_softmax", made.masked_softmax(4, 49), [f(4, 5, 49), f(5, 49)]),
        _case("two", made.two_outputs(), *([f(n, 8), f(8)] for n in sizes)),
        _case("columns", made.column_norm(), *([f(n, k)] for n in sizes[1:] for k in sizes)),
        _case("concat", made.padded_concat(), *([f(n), f(k)] for n in sizes for k in sizes)),
        _case("regrouped", made.regrouped(), *([f(n, 12)] for n in sizes)),
        _case(
            "gathered",
            made.gathered(),
            *([f(5, 3), RNG.integers(-5, 5, n, dtype=np.int64)] for n in sizes),
        ),
        _case("scaled", made.scalar_scale(), *([f(n), f()] for n in sizes)),
        _case("logic", made.logic(), *([_numbers(BOOL, n), _numbers(BOOL, n)] for n in sizes)),
    ]


FUNCTIONS, FAMILIES = _functions(), _families()


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory, shared_pool: WorkerPool) -> Path:
    kernels = [kernel for kernel, _ in FUNCTIONS]
    folder = tmp_path_factory.mktemp("functions")
    return shared_pool(partial(build_library, levels=["baseline"]), kernels, folder)


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory, shared_pool: WorkerPool) -> Path:
    kernels = [kernel for kernel, _ in FAMILIES]
    folder = tmp_path_factory.mktemp("families")
    return shared_pool(partial(build_library, levels=[cpu_level()]), kernels, folder)


def test_functions_casts_and_reductions_are_numpys(
    functions: Path, shared_pool: WorkerPool
) -> None:
    _hold(functions, FUNCTIONS, shared_pool)


@pytest.mark.parametrize("threads", [1, 2])
def test_families_over_edge_shapes_are_numpys(
    families: Path, shared_pool: WorkerPool, threads: int
) -> None:
    _hold(families, FAMILIES, shared_pool, threads)


def _hold(library: Path, cases: list[Case], pool: WorkerPool, threads: int = 1) -> None:
    found = pool(jobs.run_each, library, cases, threads)
    for (kernel, feeds), results in zip(cases, found, strict=True):
        for given, result in zip(feeds, results, strict=True):
            wanted = evaluate(kernel.algorithm, given)
            names = kernel.algorithm.outputs
            for name, one, other in zip(names, result, wanted, strict=True):
                assert one.dtype == other.dtype
                loose = one.dtype.itemsize < 4
                np.testing.assert_allclose(
                    one.astype(np.float64),
                    other.astype(np.float64),
                    rtol=0.01 if loose else 2e-6,
                    atol=1e-6,
                    err_msg=f"{kernel.name}, {name}, {[array.shape for array in given]}",
                )


def test_shapes_of_outputs_are_known_before_a_run_as_far_as_the_inputs_are(
    families: Path, shared_pool: WorkerPool
) -> None:
    kernels = {kernel.name: kernel for kernel, _ in FAMILIES}

    def told(name: str, *shapes: list[int | str]) -> list[object]:
        return shared_pool(jobs.told_shapes, families, kernels[name], shapes)

    assert told("softmax", ["h", 5, "w"], [5, "w"]) == [["h", 5, "w"]]
    assert told("softmax", [2, 5, "w"], [5, "w"]) == [[2, 5, "w"]]
    assert told("two", ["batch", 8], [8]) == [["batch", 8], ["batch", 8]]
    assert told("concat", [3], [4]) == [[8]]
    assert told("concat", ["n"], [4]) == [[]]  # no name for n + 5


@pytest.mark.parametrize(
    ("name", "shapes", "told"),
    [
        ("softmax", [(2, 5, 7), (5, 6)], "input 2 has the shape [5,6], with the others' it takes "),
        ("softmax", [(2, 4, 7), (5, 7)], "input 1 has the shape [2,4,7], with the others' it "),
        ("softmax", [(2, 5, 7), (1, 5, 7)], "input 2 has 3 dimensions, it takes 2"),
        ("two", [(4, 9), (8,)], "Kernel two (two) was not run: input 1 has the shape [4,9]"),
    ],
)
def test_inputs_of_other_shapes_are_refused_in_a_sentence(
    families: Path,
    shared_pool: WorkerPool,
    name: str,
    shapes: list[tuple[int, ...]],
    told: str,
) -> None:
    kernel = next(kernel for kernel, _ in FAMILIES if kernel.name == name)
    feeds = [np.zeros(shape, np.float32) for shape in shapes]
    assert told in shared_pool(jobs.refusal, families, kernel, feeds)
