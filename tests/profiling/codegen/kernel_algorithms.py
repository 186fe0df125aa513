"""Algorithms that the tests of generated kernels compile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension, symbol
from optimizer.loops.algorithm import (
    Algorithm,
    Func,
    InputTensor,
    LoopAxis,
    Reduction,
    ReductionKind,
)
from optimizer.loops.scalar import (
    BOOL,
    INDEX,
    Element,
    FreeSize,
    Number,
    Scalar,
    ScalarFunction,
    apply,
    cast,
    index,
)
from optimizer.loops.schedule import Schedule
from profiling.codegen.kernel import Kernel

FLOAT, HALF, BFLOAT = ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16
N, K = symbol("n"), symbol("k")

UNARY: tuple[ScalarFunction, ...] = (
    "neg", "abs", "sign", "sqrt", "exp", "log", "erf", "tanh", "sin", "cos", "floor", "ceil",
    "round",
)  # fmt: skip
BINARY: tuple[ScalarFunction, ...] = (
    "add", "sub", "mul", "div", "fmod", "min", "max",
)  # fmt: skip
WHOLE: tuple[ScalarFunction, ...] = ("floor_div", "floor_mod")
COMPARING: tuple[ScalarFunction, ...] = ("lt", "le", "gt", "ge", "eq", "ne")


def plain(name: str, algorithm: Algorithm) -> Kernel:
    """A kernel of loops in C."""
    return Kernel(name, algorithm, Schedule(), "c", name)


def tensor(name: str, shape: Sequence[Dimension], dtype: ir.DataType = FLOAT) -> InputTensor:
    return InputTensor(name, dtype, tuple(shape))


def axes_of(shape: Sequence[Dimension]) -> tuple[LoopAxis, ...]:
    return tuple(LoopAxis(f"i{number}", extent) for number, extent in enumerate(shape))


def read(source: InputTensor, axes: Sequence[LoopAxis]) -> Element:
    return Element(source.name, tuple(axis.var for axis in axes), source.dtype)


def elementwise(functions: Sequence[ScalarFunction], dtype: ir.DataType, count: int) -> Algorithm:
    """Functions of tensors of one free size, each an output."""
    inputs = tuple(tensor(f"x{i}", [N], dtype) for i in range(count))
    axes = axes_of([N])
    given = [read(one, axes) for one in inputs]
    bodies = [apply(function, *given) for function in functions]
    return _of_each(inputs, axes, functions, bodies)


def casting(before: ir.DataType, after: Sequence[ir.DataType]) -> Algorithm:
    """A tensor in other types."""
    x, axes = tensor("x", [N], before), axes_of([N])
    return _of_each(
        (x,), axes, [one.name for one in after], [cast(read(x, axes), a) for a in after]
    )


def reducing(kinds: Sequence[ReductionKind], dtype: ir.DataType) -> Algorithm:
    """Along the last of two axes."""
    x, (n, k) = tensor("x", [N, K], dtype), axes_of([N, K])
    each = [Func(f"y_{k_}", dtype, (n,), read(x, (n, k)), Reduction(k_, (k,))) for k_ in kinds]
    return Algorithm((x,), tuple(each), tuple(one.name for one in each))


def _of_each(
    inputs: tuple[InputTensor, ...],
    axes: tuple[LoopAxis, ...],
    names: Sequence[str],
    bodies: Sequence[Scalar],
) -> Algorithm:
    each = [
        Func(f"y_{name}", body.dtype, axes, body) for name, body in zip(names, bodies, strict=True)
    ]
    return Algorithm(inputs, tuple(each), tuple(one.name for one in each))


def masked_softmax(heads: Dimension = N, width: Dimension = K) -> Algorithm:
    """softmax(0.125*x + mask) along the last of three axes; the mask has no heads."""
    x, mask = tensor("x", [heads, 5, width]), tensor("mask", [5, width])
    h, q, k = axes = axes_of([heads, 5, width])
    scaled = apply("mul", read(x, axes), Number(0.125, FLOAT))
    score = Func("score", FLOAT, axes, apply("add", scaled, read(mask, (q, k))))
    at = score.at([one.var for one in axes])
    top = Func("top", FLOAT, (h, q), at, Reduction("max", (k,)))
    power = Func("power", FLOAT, axes, apply("exp", apply("sub", at, top.at([h.var, q.var]))))
    each = power.at([one.var for one in axes])
    total = Func("total", FLOAT, (h, q), each, Reduction("sum", (k,)))
    body = apply("div", each, total.at([h.var, q.var]))
    return Algorithm((x, mask), (score, top, power, total, Func("y", FLOAT, axes, body)), ("y",))


def two_outputs() -> Algorithm:
    """x + b and its square, which reads the first; b is a constant row."""
    x, b = tensor("x", [N, 8]), tensor("b", [8])
    n, k = axes = axes_of([N, 8])
    total = Func("sum", FLOAT, axes, apply("add", read(x, axes), read(b, (k,))))
    at = total.at([n.var, k.var])
    return Algorithm(
        (x, b), (total, Func("square", FLOAT, axes, apply("mul", at, at))), ("sum", "square")
    )


def column_norm() -> Algorithm:
    """Each row less the mean of all rows: what is reduced is no row."""
    x = tensor("x", [N, K])
    (n, k), r = axes_of([N, K]), LoopAxis("r", N)
    total = Func("total", FLOAT, (k,), Element("x", (r.var, k.var), FLOAT), Reduction("sum", (r,)))
    mean = apply("div", total.at([k.var]), cast(FreeSize("n"), FLOAT))
    body = apply("sub", read(x, (n, k)), mean)
    return Algorithm((x,), (total, Func("y", FLOAT, (n, k), body)), ("y",))


def padded_concat() -> Algorithm:
    """x, then y, then a zero: an output of n + k + 1 elements."""
    x, y = tensor("x", [N]), tensor("y", [K])
    (i,) = axes = axes_of([N + K + 1])
    behind = apply("sub", i.var, FreeSize("n"))
    first = Element("x", (i.var,), FLOAT)
    second = Element("y", (behind,), FLOAT)
    tail = apply("select", apply("lt", behind, FreeSize("k")), second, Number(0.0, FLOAT))
    body = apply("select", apply("lt", i.var, FreeSize("n")), first, tail)
    return Algorithm((x, y), (Func("z", FLOAT, axes, body),), ("z",))


def regrouped() -> Algorithm:
    """[n, 12] as [n, 4, 3] with the last two axes exchanged."""
    x, (n, a, b) = tensor("x", [N, 12]), axes_of([N, 3, 4])
    place = apply("add", apply("mul", b.var, index(3)), a.var)
    body = Element("x", (n.var, place), FLOAT)
    return Algorithm((x,), (Func("y", FLOAT, (n, a, b), body),), ("y",))


def gathered() -> Algorithm:
    """Rows of a table; an index below zero counts from behind."""
    table, rows = tensor("table", [5, 3]), tensor("rows", [N], ir.DataType.INT64)
    n, k = axes = axes_of([N, 3])
    row = read(rows, (n,))
    zero, five = Number(0, row.dtype), Number(5, row.dtype)
    inside = apply("select", apply("lt", row, zero), apply("add", row, five), row)
    body = Element("table", (cast(inside, INDEX), k.var), FLOAT)
    return Algorithm((table, rows), (Func("y", FLOAT, axes, body),), ("y",))


def scalar_scale() -> Algorithm:
    """A tensor times a tensor of no axes, and the sum of all: an output of no axes."""
    x, scale = tensor("x", [N]), tensor("scale", [])
    (n,) = axes = axes_of([N])
    scaled = Func("y", FLOAT, axes, apply("mul", read(x, axes), read(scale, ())))
    total = Func("total", FLOAT, (), scaled.at([n.var]), Reduction("sum", (n,)))
    return Algorithm((x, scale), (scaled, total), ("y", "total"))


def logic() -> Algorithm:
    a, b, axes = tensor("a", [N], BOOL), tensor("b", [N], BOOL), axes_of([N])
    one, other = read(a, axes), read(b, axes)
    parts: list[Scalar] = [apply("and", one, other), apply("xor", one, other), apply("not", one)]
    names = ("both", "either", "none")
    funcs = [Func(name, BOOL, axes, body) for name, body in zip(names, parts, strict=True)]
    return Algorithm((a, b), tuple(funcs), names)


def floats(rng: np.random.Generator, shape: Sequence[int], dtype: ir.DataType) -> np.ndarray:
    return np.asarray(rng.standard_normal(shape) * 3).astype(dtype.numpy())
