"""Kernels that Halide compiles, called in a worker."""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import onnx_ir as ir
import pytest
from numpy.typing import NDArray

from optimizer.dimension import symbol
from optimizer.errors import WorkerTimeout
from optimizer.limits import JobLimits
from optimizer.loops.algorithm import (
    Algorithm,
    Func,
    InputTensor,
    LoopAxis,
    Reduction,
    ReductionKind,
)
from optimizer.loops.evaluation import evaluate
from optimizer.loops.scalar import Element, Number, Scalar, ScalarFunction, apply, cast
from optimizer.loops.schedule import (
    Atomic,
    Bound,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    Parallel,
    Primitive,
    Reorder,
    RFactor,
    Schedule,
    ScheduleError,
    Split,
    StoreAt,
    StoreIn,
    Unroll,
    Vectorize,
)
from profiling.codegen.halide_object import compile_object, loop_nest
from profiling.codegen.kernel import LibraryError
from profiling.codegen.levels import levels_here
from profiling.workers import WorkerPool
from tests.profiling.codegen import algorithms
from tests.profiling.codegen.halide_calls import results

FLOAT = ir.DataType.FLOAT
SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0, 88.9, -103.9, 20],
    np.float32,
)

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.long,
]


def computed(
    pool: WorkerPool,
    algorithm: Algorithm,
    cases: Sequence[Sequence[NDArray[Any]]],
    schedule: Schedule | None = None,
) -> list[list[list[NDArray[Any]]]]:
    """Outputs by level and case."""
    return pool(results, algorithm, schedule or Schedule(), levels_here(), cases)


def agrees(
    pool: WorkerPool, algorithm: Algorithm, inputs: Sequence[NDArray[Any]], **options: Any
) -> None:
    expected = evaluate(algorithm, inputs)
    for (found,) in computed(pool, algorithm, [inputs], **options):
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            # What is too small for a normal number may be 0.
            np.testing.assert_allclose(
                one.astype(np.float64), other.astype(np.float64), rtol=2e-6, atol=4e-7
            )


def elementwise(
    *bodies: Callable[[Element], Scalar], dtype: ir.DataType = FLOAT, name: str = "x"
) -> Algorithm:
    """A kernel with an output for each expression of `x`."""
    axis = LoopAxis("i", symbol("n"))
    x = InputTensor(name, dtype, (symbol("n"),))
    made = [body(Element(name, (axis.var,), dtype)) for body in bodies]
    funcs = [Func(f"y{n}", one.dtype, (axis,), one) for n, one in enumerate(made)]
    return Algorithm((x,), tuple(funcs), tuple(one.name for one in funcs))


def by_vectors(func: str = "y0_out") -> Schedule:
    return Schedule((Split(func, "i", "io", "ii", 16), Vectorize(func, "ii")))


def of_x(function: ScalarFunction, *others: Scalar) -> Callable[[Element], Scalar]:
    return lambda x: apply(function, x, *others)


FUNCTIONS: tuple[ScalarFunction, ...] = (
    "exp", "log", "erf", "tanh", "sqrt", "abs", "neg", "sign", "floor", "ceil", "round", "is_nan",
)  # fmt: skip
EXPONENTS = (2.0, 3.0, 7.0, -1.0, -2.0)


def test_functions_agree_with_numpy_at_every_level_special_values_included(
    shared_pool: WorkerPool,
) -> None:
    usual = np.concatenate([np.linspace(-9, 9, 1001), np.logspace(-30, 30, 61)]).astype(np.float32)
    x = np.concatenate([SPECIAL, usual])
    bodies = [of_x(function) for function in FUNCTIONS]
    bodies += [of_x("pow", Number(exponent, FLOAT)) for exponent in EXPONENTS]
    algorithm = elementwise(*bodies)
    expected = evaluate(algorithm, [x])
    for (found,) in computed(shared_pool, algorithm, [[x]], by_vectors()):
        for name, one, other in zip((*FUNCTIONS, *EXPONENTS), found, expected, strict=True):
            # What is too small for a normal number may be 0.
            least = 4e-7 if name == "erf" else float(np.finfo(np.float32).tiny)
            np.testing.assert_allclose(one, other, rtol=2e-6, atol=least, err_msg=str(name))


def test_polynomials_are_within_a_few_units_in_the_last_place(shared_pool: WorkerPool) -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-86.9, 88.722, 20001), rng.normal(0, 1, 20001)])
    x = x.astype(np.float32)
    exact = x.astype(np.float64)
    wanted = [np.exp(exact), np.vectorize(math.erf)(exact), np.tanh(exact)]
    algorithm = elementwise(of_x("exp"), of_x("erf"), of_x("tanh"))
    for (found,) in computed(shared_pool, algorithm, [[x]], by_vectors()):
        for one, right, units in zip(found, wanted, (6.0, 6.0, 6.0), strict=True):
            last_place = np.spacing(right.astype(np.float32))
            assert np.max(np.abs(one - right) / last_place) < units


def test_nan_of_16_bits_is_seen_where_it_is_asked_for(shared_pool: WorkerPool) -> None:
    for kind in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16):
        algorithm = elementwise(
            lambda x: apply("is_nan", cast(x, FLOAT)),
            lambda x: apply("max", cast(x, FLOAT), Number(0.5, FLOAT)),
            lambda x: apply("is_nan", apply("exp", cast(x, FLOAT))),
            dtype=kind,
        )
        data = np.array([np.nan, np.inf, -np.inf, 1, -1, 0], np.float32).astype(kind.numpy())
        agrees(shared_pool, algorithm, [data])


def test_the_larger_of_two_is_nan_where_either_is_one_and_a_reduction_keeps_it(
    shared_pool: WorkerPool,
) -> None:
    half = Number(0.5, FLOAT)
    algorithm = elementwise(
        of_x("max", half),
        of_x("min", half),
        lambda x: apply("max", x, apply("neg", x)),
        lambda x: apply("min", apply("mul", x, half), x),
        lambda x: apply("is_nan", apply("exp", x)),
        lambda x: apply("max", half, apply("exp", x)),
        lambda x: apply("max", apply("tanh", x), apply("erf", x)),
        lambda x: apply("select", apply("lt", x, half), half, x),
    )
    agrees(shared_pool, algorithm, [SPECIAL], schedule=by_vectors())


def test_a_row_divided_by_one_number_is_right_for_special_values(
    shared_pool: WorkerPool,
) -> None:
    row, place = LoopAxis("i", symbol("n")), LoopAxis("j", symbol("k"))
    x = InputTensor("x", FLOAT, (symbol("k"),))
    divisor = InputTensor("d", FLOAT, (symbol("n"),))
    body = apply("div", Element("x", (place.var,), FLOAT), Element("d", (row.var,), FLOAT))
    algorithm = Algorithm((x, divisor), (Func("y", FLOAT, (row, place), body),), ("y",))
    values = np.concatenate([SPECIAL, np.logspace(-37, 38, 76).astype(np.float32)])
    with np.errstate(all="ignore"):
        (expected,) = evaluate(algorithm, [values, values])
    tiny = float(np.finfo(np.float32).tiny)
    for ((found,),) in computed(shared_pool, algorithm, [[values, values]]):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=tiny)


def test_integers_divide_towards_zero_and_nothing_stops_the_processor(
    shared_pool: WorkerPool,
) -> None:
    kind = ir.DataType.INT32
    minus, zero = Number(-1, kind), Number(0, kind)
    algorithm = elementwise(
        of_x("div", Number(3, kind)),
        of_x("floor_div", Number(3, kind)),
        of_x("floor_mod", Number(3, kind)),
        lambda x: apply("div", Number(7, kind), x),
        lambda x: apply("select", apply("eq", x, zero), zero, apply("div", x, minus)),
        lambda x: cast(x, ir.DataType.INT64),
        lambda x: cast(x, ir.DataType.UINT8),
        lambda x: apply("and", apply("gt", x, zero), apply("not", apply("eq", x, minus))),
        dtype=kind,
    )
    agrees(shared_pool, algorithm, [np.array([-7, -3, -1, 0, 1, 5, 9, 2**31 - 1], np.int32)])


def test_16_bit_floats_compute_in_32_and_are_rounded_where_they_are_stored(
    shared_pool: WorkerPool,
) -> None:
    for kind in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16):
        axis, r = LoopAxis("n", symbol("n")), LoopAxis("r", symbol("k"))
        x = InputTensor("x", kind, (symbol("n"), symbol("k")))
        read = apply("exp", cast(Element("x", (axis.var, r.var), kind), FLOAT))
        total = Func("total", FLOAT, (axis,), read, Reduction("sum", (r,)))
        y = Func("y", kind, (axis,), cast(total.at([axis.var]), kind))
        data = np.random.default_rng(0).standard_normal((5, 37)).astype(kind.numpy())
        agrees(shared_pool, Algorithm((x,), (total, y), ("y",)), [data])


def test_reductions_are_the_same_whole_and_by_lanes_and_keep_nan(shared_pool: WorkerPool) -> None:
    n, r = LoopAxis("n", symbol("n")), LoopAxis("r", symbol("k"))
    real: Scalar = Element("x", (n.var, r.var), FLOAT)
    truth = apply("gt", real, Number(-2.0, FLOAT))
    funcs: list[Func] = []
    lanes: list[Primitive] = []
    for number, kind in enumerate(get_args(ReductionKind) * 2):
        read = truth if kind in ("any", "all") else real
        funcs.append(Func(f"y{number}", read.dtype, (n,), read, Reduction(kind, (r,))))
        if number >= 6:
            partial = f"lanes{number}"
            lanes += [
                Split(f"y{number}", "r", "ro", "ri", 16, nest=1),
                RFactor(f"y{number}", "ri", partial, "lane"),
                ComputeAt(f"y{number}", "y0_out", "n"),
                ComputeAt(partial, "y0_out", "n"),
                Bound(partial, "lane", 16),
                Vectorize(partial, "lane"),
                Reorder(partial, ("ro", "lane"), nest=1),
                Vectorize(partial, "lane", nest=1),
            ]
    x = InputTensor("x", FLOAT, (symbol("n"), symbol("k")))
    algorithm = Algorithm((x,), tuple(funcs), tuple(func.name for func in funcs))
    data = np.random.default_rng(0).standard_normal((4, 49)).astype(np.float32)
    data[1, 3], data[2, 47] = np.nan, -np.inf
    agrees(shared_pool, algorithm, [data], schedule=Schedule(tuple(lanes)))


@pytest.mark.parametrize("lanes", [False, True])
def test_what_is_the_same_in_every_round_is_combined_as_often(
    shared_pool: WorkerPool, lanes: bool
) -> None:
    n, r = LoopAxis("n", symbol("n")), LoopAxis("r", 35)
    read = Element("x", (n.var,), FLOAT)
    algorithm = Algorithm(
        (InputTensor("x", FLOAT, (symbol("n"),)),),
        (Func("y", FLOAT, (n,), read, Reduction("sum", (r,))),),
        ("y",),
    )
    by_lanes = (
        Split("y", "r", "ro", "ri", 16, nest=1),
        RFactor("y", "ri", "partial", "lane"),
        ComputeAt("partial", "y", "n"),
        Vectorize("partial", "lane"),
    )
    schedule = Schedule(by_lanes if lanes else (Reorder("y", ("r", "n"), nest=1),))
    agrees(shared_pool, algorithm, [np.arange(5, dtype=np.float32)], schedule=schedule)


def test_nothing_is_read_outside_a_tensor_where_a_choice_hides_it(shared_pool: WorkerPool) -> None:
    """The second input of a concatenation is empty, or ends where readable memory does."""
    algorithm = algorithms.rotary(2, 3, 32)
    rng = np.random.default_rng(0)
    data = [
        rng.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 32), (3, 32), (3, 32))
    ]
    by_vectors = Schedule((Split("y", "i2", "o", "v", 16), Vectorize("y", "v")))
    agrees(shared_pool, algorithm, data, schedule=by_vectors)


def test_every_primitive_is_applied_and_changes_nothing_but_the_loops(
    shared_pool: WorkerPool,
) -> None:
    algorithm = algorithms.softmax(symbol("h"), symbol("q"), 32)
    rng = np.random.default_rng(0)
    data = [rng.standard_normal((2, 5, 32)), rng.standard_normal((1, 5, 32))]
    schedule = Schedule(
        (
            Fuse("y", "i0", "i1", "row"),
            Split("y", "i2", "o", "v", 16),
            Unroll("y", "o"),
            Vectorize("y", "v"),
            Parallel("y", "row"),
            ComputeRoot("top"),
            ComputeRoot("total"),
            Atomic("top"),
            ComputeRoot("power"),
            StoreIn("power", "heap"),
            Reorder("power", ("i1", "i0", "i2")),
            ComputeInline("scaled"),
            ComputeAt("shifted", "power", "i0"),
            StoreAt("shifted", "power", "i1"),
            Bound("power", "i2", 32),
        )
    )
    inputs = [one.astype(np.float32) for one in data]
    agrees(shared_pool, algorithm, inputs, schedule=schedule)
    text = shared_pool(loop_nest, algorithm, schedule)
    assert "parallel i1.row:" in text
    assert "vectorized i2.v in [0, 15]:" in text
    assert "unrolled i2.o in [0, 1]:" in text


@pytest.mark.parametrize(
    ("primitives", "index", "reason"),
    [
        ((Split("y", "k", "o", "v", 16),), 0, "there is no loop k"),
        ((Vectorize("z", "k"),), 0, "there is no Func z"),
        ((Split("y", "i2", "o", "v", 16), Vectorize("y", "o")), 1, "constant extent"),
        ((Vectorize("y", "i2", nest=1),), 0, "y has no nest 1"),
        (
            (Parallel("y", "i0"), ComputeAt("top", "y", "i2"), ComputeAt("power", "y", "i1")),
            1,
            "top",
        ),
        ((RFactor("total", "r0", "lanes", "lane"),), 0, "no inner loop of a split reduction"),
    ],
)
def test_a_primitive_that_cannot_be_applied_is_named_with_the_reason(
    primitives: tuple[Primitive, ...],
    index: int,
    reason: str,
    shared_pool: WorkerPool,
    tmp_path: Path,
) -> None:
    algorithm = algorithms.softmax(symbol("h"), symbol("q"), symbol("k"))
    with pytest.raises(ScheduleError, match=reason) as caught:
        shared_pool(compile_object, algorithm, Schedule(primitives), "k", "avx2", tmp_path)
    assert caught.value.index == index


def test_what_halide_cannot_compute_is_said_in_a_sentence(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    def refusal(algorithm: Algorithm) -> str:
        with pytest.raises(LibraryError) as caught:
            shared_pool(compile_object, algorithm, Schedule(), "k", "baseline", tmp_path)
        return caught.value.message

    assert refusal(elementwise(lambda x: apply("pow", x, x))) == (
        "Halide computes powers with a constant exponent up to 8 alone."
    )
    assert refusal(elementwise(lambda x: apply("fmod", x, x))) == (
        "Halide has no fmod of elements of type FLOAT."
    )
    assert refusal(elementwise(lambda x: x, dtype=ir.DataType.COMPLEX64)) == (
        "Generated kernels take no elements of type COMPLEX64."
    )
    assert refusal(algorithms.chain(2**31)) == (
        "x has 2147483648 elements; a generated kernel takes at most 2147483647."
    )


def test_a_kernel_that_takes_minutes_to_compile_ends_with_a_sentence(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    schedule = Schedule((Unroll("y", "i0"),))
    arguments = (algorithms.chain(1_000_000), schedule, "k", "avx2", tmp_path)
    with pytest.raises(
        WorkerTimeout, match=r"Stopped after 1 s \(the limit\) during 'compile object'"
    ):
        shared_pool(compile_object, *arguments, limits=JobLimits(seconds=1))
