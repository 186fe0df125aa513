"""Expressions of a loop's body as Halide expressions.

16-bit floats compute in float32 and are rounded where they are stored; yes and no is a byte in
memory. Both alternatives of a `select` are computed, so every index that is not surely inside its
tensor is held there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import extent_scalar
from optimizer.loops.indexing import stays_within
from optimizer.loops.quotients import exponent_of
from optimizer.loops.scalar import (
    Apply,
    Element,
    FreeSize,
    Number,
    Scalar,
    ScalarFunction,
    Var,
    parts_of,
    variables_of,
)
from profiling.codegen import halide_math as guarded
from profiling.codegen.halide_bindings import Expr, hl
from profiling.codegen.halide_stages import Stages
from profiling.codegen.kernel import KernelRefused

_STORED: Mapping[ir.DataType, Any] = {
    ir.DataType.FLOAT: hl.Float(32), ir.DataType.DOUBLE: hl.Float(64),
    ir.DataType.FLOAT16: hl.Float(16), ir.DataType.BFLOAT16: hl.BFloat(16),
    ir.DataType.BOOL: hl.UInt(8),
    ir.DataType.INT8: hl.Int(8), ir.DataType.INT16: hl.Int(16), ir.DataType.INT32: hl.Int(32),
    ir.DataType.INT64: hl.Int(64), ir.DataType.UINT8: hl.UInt(8), ir.DataType.UINT16: hl.UInt(16),
    ir.DataType.UINT32: hl.UInt(32), ir.DataType.UINT64: hl.UInt(64),
}  # fmt: skip
_HALVES = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)
FLOATS = (*_HALVES, ir.DataType.FLOAT, ir.DataType.DOUBLE)


def stored_type(dtype: ir.DataType) -> Any:
    """The Halide type of an element in memory.

    Raises:
        LibraryError: kernels have no such elements.
    """
    if dtype not in _STORED:
        raise KernelRefused(f"Generated kernels take no elements of type {dtype.name}.")
    return _STORED[dtype]


def computed_type(dtype: ir.DataType) -> Any:
    """The Halide type of a value between functions."""
    if dtype == ir.DataType.BOOL:
        return hl.Bool()
    return hl.Float(32) if dtype in _HALVES else stored_type(dtype)


def stored(value: Expr, dtype: ir.DataType) -> Expr:
    """A value as it lies in memory."""
    return hl.cast(stored_type(dtype), value)


def loaded(value: Expr, dtype: ir.DataType) -> Expr:
    """A value as it is computed with."""
    if dtype == ir.DataType.BOOL:
        return value != hl.cast(hl.UInt(8), 0)
    return hl.cast(computed_type(dtype), value)


class Body:
    """The expressions of one Func.

    Args:
        variables: its loop variables by name.
        extents: how far they run.
        sizes: the free sizes.
        read: an element of an input or of a Func, as it lies in memory.
        shapes: of inputs and Funcs.
        stages: over the same variables.
    """

    def __init__(
        self,
        variables: Mapping[str, Expr],
        extents: Mapping[str, Dimension],
        *,
        sizes: Mapping[str, Expr],
        read: Callable[[str, Sequence[Expr]], Expr],
        shapes: Mapping[str, Sequence[Dimension]],
        stages: Stages,
    ) -> None:
        self._variables, self._extents, self._sizes = variables, extents, sizes
        self._read, self._shapes, self._stages = read, shapes, stages
        self._known: dict[int, tuple[Scalar, Expr]] = {}

    def value(self, scalar: Scalar) -> Expr:
        """An expression of the type that is computed with.

        Raises:
            LibraryError: Halide has no such function for these types.
        """
        if id(scalar) not in self._known:
            self._known[id(scalar)] = scalar, self._value(scalar)
        return self._known[id(scalar)][1]

    def _value(self, scalar: Scalar) -> Expr:
        if isinstance(scalar, Var):
            return self._variables[scalar.name]
        if isinstance(scalar, FreeSize):
            return self._sizes[scalar.name]
        if isinstance(scalar, Number):
            return constant(scalar.value, scalar.dtype)
        if isinstance(scalar, Element):
            shape = self._shapes[scalar.tensor]
            places = [self._place(one, at) for one, at in zip(scalar.indices, shape, strict=True)]
            return loaded(self._read(scalar.tensor, places), scalar.dtype)
        return self._applied(scalar)

    def _place(self, index: Scalar, extent: Dimension) -> Expr:
        found = hl.cast(hl.Int(32), self.value(index))
        if stays_within(index, extent, self._extents):
            return found
        last = self.value(extent_scalar(extent)) - 1
        return hl.max(hl.min(hl.likely(found), last), 0)

    def _applied(self, scalar: Apply) -> Expr:
        if scalar.function == "pow":
            return self._power(scalar)
        exponent = exponent_of(scalar.arguments[-1]) if scalar.function == "div" else None
        if exponent is not None and not isinstance(scalar.arguments[0], Number):
            above, power = self.value(scalar.arguments[0]), self.value(exponent)
            return guarded.quotient_by_exp_and_1(above, power, self._stages)
        values = [self.value(argument) for argument in scalar.arguments]
        if scalar.function == "cast":
            return _converted(values[0], scalar.arguments[0].dtype, scalar.dtype)
        if scalar.function in ("min", "max"):
            return _extreme(scalar, values)
        if scalar.function in _IN_STAGES:
            return _IN_STAGES[scalar.function](*values, self._stages)
        if scalar.function == "div" and self._stays_in_row(scalar.arguments[1]):
            return guarded.quotient_of_row(*values)
        table = _OF_FLOATS if scalar.arguments[0].dtype in FLOATS else _OF_INTEGERS
        found = table.get(scalar.function) or _OF_ALL.get(scalar.function)
        if found is None:
            kind = scalar.arguments[0].dtype.name
            raise KernelRefused(f"Halide has no {scalar.function} of elements of type {kind}.")
        return found(*values)

    def _stays_in_row(self, divisor: Scalar) -> bool:
        """Whether a number is read and is the same for all elements along the innermost axis."""
        moving = [name for name, extent in self._extents.items() if extent != 1]
        read = any(isinstance(part, Element) for part in parts_of(divisor))
        single = computed_type(divisor.dtype) == hl.Float(32)
        return single and read and bool(moving) and moving[-1] not in variables_of(divisor)

    def _power(self, scalar: Apply) -> Expr:
        base, exponent = scalar.arguments
        found = None
        if isinstance(exponent, Number) and scalar.dtype in FLOATS:
            found = guarded.power(self.value(base), float(exponent.value))
        if found is None:
            raise KernelRefused("Halide computes powers with a constant exponent up to 8 alone.")
        return found


def needs_stages(scalar: Scalar) -> bool:
    """Whether parts of an expression are Funcs of their own, which know no reductions."""
    return any(isinstance(part, Apply) and part.function in _IN_STAGES for part in parts_of(scalar))


def constant(value: float | bool, dtype: ir.DataType) -> Expr:
    """A number of the type that is computed with."""
    if dtype in FLOATS:
        return hl.f64(float(value)) if dtype == ir.DataType.DOUBLE else hl.f32(float(value))
    return hl.cast(computed_type(dtype), _whole(int(value)))


def _whole(value: int) -> Expr:
    if -(2**31) <= value < 2**31:
        return hl.i32(value)
    return hl.cast(hl.UInt(64), hl.Expr(value - 2**64)) if value >= 2**63 else hl.Expr(value)


def _extreme(scalar: Apply, values: Sequence[Expr]) -> Expr:
    first, second = values
    number, other = (first, second)
    if isinstance(scalar.arguments[1], Number):
        number, other = second, first
    elif not isinstance(scalar.arguments[0], Number):
        return (guarded.largest if scalar.function == "max" else guarded.smallest)(first, second)
    held = guarded.at_least if scalar.function == "max" else guarded.at_most
    return held(number, other)


def _converted(value: Expr, source: ir.DataType, target: ir.DataType) -> Expr:
    if target == ir.DataType.BOOL:
        return value != hl.cast(value.type(), 0)
    narrow = target in _HALVES and source != target
    return (
        loaded(stored(value, target), target) if narrow else hl.cast(computed_type(target), value)
    )


def _divided(a: Expr, b: Expr) -> Expr:
    """Rounded towards zero; what the processor refuses gives a number."""
    one = hl.cast(b.type(), 1)
    zero = hl.cast(b.type(), 0)
    if not b.type().is_int():
        return hl.div_round_to_zero(a, hl.select(b == zero, one, b))
    refused = (b == zero) | (b == zero - one)
    quotient = hl.div_round_to_zero(a, hl.select(refused, one, b))
    return hl.select(b == zero - one, zero - a, quotient)


def _absolute(a: Expr) -> Expr:
    return hl.cast(a.type(), hl.abs(a))


def _at_most(a: Expr, b: Expr) -> Expr:
    """Halide's own is "not above", which NaN is."""
    return hl.Expr.logical_not(hl.is_nan(a) | hl.is_nan(b)) & _PYTHON.le(a, b)


def _at_least(a: Expr, b: Expr) -> Expr:
    return _at_most(b, a)


_PYTHON: Any = operator
"""Of Halide's expressions, for which Python's operators are not typed."""
_OF_ALL: Mapping[ScalarFunction, Callable[..., Expr]] = {
    "add": _PYTHON.add, "sub": _PYTHON.sub, "mul": _PYTHON.mul, "neg": _PYTHON.neg,
    "abs": _absolute, "sign": guarded.sign, "select": hl.select,
    "lt": _PYTHON.lt, "gt": _PYTHON.gt, "eq": _PYTHON.eq, "ne": _PYTHON.ne, "xor": _PYTHON.ne,
    "and": _PYTHON.and_, "or": _PYTHON.or_, "not": hl.Expr.logical_not,
}  # fmt: skip
_IN_STAGES: Mapping[ScalarFunction, Callable[..., Expr]] = {
    "exp": guarded.exp, "erf": guarded.erf, "tanh": guarded.tanh,
}  # fmt: skip
_OF_FLOATS: Mapping[ScalarFunction, Callable[..., Expr]] = {
    "div": _PYTHON.truediv, "sqrt": hl.sqrt, "log": guarded.log, "sin": hl.sin, "cos": hl.cos,
    "floor": hl.floor, "ceil": hl.ceil, "round": hl.round, "is_nan": hl.is_nan,
    "le": _at_most, "ge": _at_least,
}  # fmt: skip
_OF_INTEGERS: Mapping[ScalarFunction, Callable[..., Expr]] = {
    "div": _divided, "floor_div": _PYTHON.truediv, "floor_mod": _PYTHON.mod,
    "floor": _PYTHON.pos, "ceil": _PYTHON.pos, "round": _PYTHON.pos,
    "le": _PYTHON.le, "ge": _PYTHON.ge,
}  # fmt: skip
