"""Which operations on floats are as written, and where the compiler may contract them.

Halide's `strict_float` says of an expression that the compiler must not take for granted that there
is no NaN, nor contract a product and a sum. It reaches down to calls of Funcs: what may be
contracted is therefore a Func of its own that is computed where it is read.

Source: `StrictifyFloat.cpp` of Halide 21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.scalar import Apply, parts_of
from profiling.codegen.halide_bindings import Expr, hl

_FLOATS = frozenset(
    {ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.FLOAT, ir.DataType.DOUBLE}
)


def strict(value: Expr) -> Expr:
    """The value with operations on floats as written."""
    return hl.strict_float(value)


class Stages:
    """Expressions of one Func as Funcs of their own over the same variables.

    Attributes:
        fused: whether a product and a sum, contracted, are rounded only once.
    """

    def __init__(self, variables: Sequence[Any], *, fused: bool) -> None:
        self._at, self.fused = tuple(variables), fused

    def strict(self, value: Expr) -> Expr:
        """The value with operations as written, whoever reads it."""
        return self._stage(strict(value))

    def contracted(self, value: Expr) -> Expr:
        """The value with products and sums contracted, and NaN and infinities not minded.

        Only stages that are strict may be in it: it is not made strict by whoever reads it.
        """
        return self._stage(value)

    def _stage(self, value: Expr) -> Expr:
        made = hl.Func()
        made[self._at] = value
        return hl.Expr(made[self._at])


def needs_strict_target(algorithm: Algorithm) -> bool:
    """Whether all of a kernel must be strict: Halide's conversions between floats never are."""
    tensors = (*algorithm.inputs, *algorithm.funcs)
    if any(tensor.dtype in _FLOATS - {ir.DataType.FLOAT} for tensor in tensors):
        return True
    return any(
        isinstance(part, Apply) and part.dtype in _FLOATS - {ir.DataType.FLOAT}
        for func in algorithm.funcs
        for part in parts_of(func.body)
    )
