"""One number of a loop's body, as an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import onnx_ir as ir

INDEX = ir.DataType.INT32
"""Of loop variables, sizes and all arithmetic with them."""
BOOL = ir.DataType.BOOL

ScalarFunction = Literal[
    "add", "sub", "mul", "div", "floor_div", "floor_mod", "fmod", "min", "max", "pow",
    "neg", "abs", "sign", "sqrt", "exp", "log", "erf", "tanh", "sin", "cos",
    "floor", "ceil", "round",
    "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not", "is_nan",
    "select", "cast",
]  # fmt: skip
"""Functions of numbers, as NumPy means them: `div` of integers is rounded towards zero as in ONNX,
`floor_div` and `floor_mod` (of a positive divisor) towards minus infinity, `round` to even; `min`
and `max` give NaN where either is one. `select` takes a condition and both alternatives."""

FUNCTIONS: tuple[ScalarFunction, ...] = get_args(ScalarFunction)
DECIDING: frozenset[ScalarFunction] = frozenset(
    {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not", "is_nan"}
)
"""Functions that answer yes or no."""


@dataclass(frozen=True, slots=True)
class Var:
    """A loop's variable, from 0 to its axis' extent."""

    name: str

    @property
    def dtype(self) -> ir.DataType:
        """An index."""
        return INDEX


@dataclass(frozen=True, slots=True)
class FreeSize:
    """A size that is known when the kernel runs."""

    name: str

    @property
    def dtype(self) -> ir.DataType:
        """An index."""
        return INDEX


@dataclass(frozen=True, slots=True)
class Number:
    """A constant. Infinities and NaN are numbers."""

    value: float | int | bool
    dtype: ir.DataType


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an input or of a Func.

    Attributes:
        tensor: its name.
        indices: where, one for each axis.
        dtype: the tensor's.
    """

    tensor: str
    indices: tuple[Scalar, ...]
    dtype: ir.DataType


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of numbers.

    Attributes:
        dtype: of the result.
    """

    function: ScalarFunction
    arguments: tuple[Scalar, ...]
    dtype: ir.DataType


Scalar: TypeAlias = Var | FreeSize | Number | Element | Apply


def apply(function: ScalarFunction, *arguments: Scalar) -> Apply:
    """A function of numbers of one type; the result has it, too, unless it is a yes or no."""
    first = arguments[1 if function == "select" else 0]
    return Apply(function, arguments, BOOL if function in DECIDING else first.dtype)


def cast(scalar: Scalar, dtype: ir.DataType) -> Scalar:
    """The number in another type; what has that type already stays as it is."""
    return scalar if scalar.dtype == dtype else Apply("cast", (scalar,), dtype)


def index(value: int) -> Number:
    """A constant index."""
    return Number(value, INDEX)


def parts_of(scalar: Scalar) -> Iterator[Scalar]:
    """An expression and all expressions in it, from the outside in; shared ones once."""
    seen: set[int] = set()
    left = [scalar]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        left += reversed(_operands(one))


def variables_of(scalar: Scalar) -> set[str]:
    """Names of the loop variables in an expression."""
    return {part.name for part in parts_of(scalar) if isinstance(part, Var)}


def rewritten(scalar: Scalar, change: Callable[[Scalar], Scalar]) -> Scalar:
    """An expression in which every part, from the inside out, is what `change` makes of it."""
    done: dict[int, Scalar] = {}
    left: list[tuple[Scalar, bool]] = [(scalar, False)]
    while left:
        one, ready = left.pop()
        if id(one) in done:
            continue
        operands = _operands(one)
        if not ready:
            left.append((one, True))
            left += [(operand, False) for operand in operands]
            continue
        done[id(one)] = change(_with_operands(one, [done[id(operand)] for operand in operands]))
    return done[id(scalar)]


def with_indices(scalar: Scalar, indices: dict[str, Scalar]) -> Scalar:
    """An expression with other expressions in place of loop variables, by their names."""

    def change(part: Scalar) -> Scalar:
        return indices.get(part.name, part) if isinstance(part, Var) else part

    return rewritten(scalar, change)


def _operands(scalar: Scalar) -> tuple[Scalar, ...]:
    if isinstance(scalar, Element):
        return scalar.indices
    return scalar.arguments if isinstance(scalar, Apply) else ()


def _with_operands(scalar: Scalar, operands: Sequence[Scalar]) -> Scalar:
    if all(new is old for new, old in zip(operands, _operands(scalar), strict=True)):
        return scalar
    if isinstance(scalar, Element):
        return replace(scalar, indices=tuple(operands))
    assert isinstance(scalar, Apply)
    return replace(scalar, arguments=tuple(operands))
