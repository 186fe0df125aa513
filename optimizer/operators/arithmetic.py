"""Arithmetic and decisions on small integer tensors whose elements may be sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from optimizer.model.dimension import (
    Dimension,
    Expression,
    at_least,
    exact_divide,
    floor_divide,
)
from optimizer.operators.call import INTEGERS, MAX_CONTENT, Call, Content, Dim, contents

_Binary = Callable[[Dimension, Dimension], Dim]


def zipped(combine: _Binary, left: Content, right: Content) -> Content:
    """Element by element, a single element broadcast."""
    if not isinstance(left, tuple) and not isinstance(right, tuple):
        return None if left is None or right is None else combine(left, right)
    first = left if isinstance(left, tuple) else (left,)
    second = right if isinstance(right, tuple) else (right,)
    length = max(len(first), len(second)) if first and second else 0
    if len(first) not in (1, length) or len(second) not in (1, length):
        return None
    first, second = (e * length if len(e) == 1 else e for e in (first, second))
    pairs = zip(first, second, strict=True)
    return tuple(None if a is None or b is None else combine(a, b) for a, b in pairs)


def content_of(call: Call, index: int) -> Content:
    """A scalar or vector input, with unknown elements where only the length is known."""
    fact = call.fact(index)
    if fact.shape is None or len(fact.shape) > 1:
        return None
    if fact.content is None and fact.shape:
        length = fact.shape[0]
        if isinstance(length, int) and length <= MAX_CONTENT:
            return (None,) * length
    return fact.content


def _divided(numerator: Dimension, divisor: Dimension) -> Dim:
    if isinstance(numerator, int) and isinstance(divisor, int):
        if divisor == 0:
            return None
        whole = abs(numerator) // abs(divisor)  # integer division truncates
        return whole if (numerator < 0) == (divisor < 0) else -whole
    exact = exact_divide(numerator, divisor)
    if exact is not None or not isinstance(divisor, int) or divisor <= 0:
        return exact
    return floor_divide(numerator, divisor) if at_least(numerator, 0) else None


def _modulo(numerator: Dimension, divisor: Dimension) -> Dim:
    if isinstance(numerator, int) and isinstance(divisor, int):
        return numerator % divisor if divisor else None  # the sign of the divisor, as in numpy
    return 0 if exact_divide(numerator, divisor) is not None else None


def _minimum(left: Dimension, right: Dimension) -> Dim:
    decided = at_least(left, right)
    if decided is None:
        return left if at_least(right, left) else None
    return right if decided else left


def _maximum(left: Dimension, right: Dimension) -> Dim:
    decided = at_least(left, right)
    if decided is None:
        return right if at_least(right, left) else None
    return left if decided else right


def _equal(left: Dimension, right: Dimension) -> Dim:
    if left == right:
        return 1
    apart = isinstance(left - right, int) or at_least(left, right + 1) or at_least(right, left + 1)
    return 0 if apart else None


def _decided(answer: bool | None) -> Dim:
    return None if answer is None else int(answer)


_ELEMENTWISE: dict[str, _Binary] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": _divided,
    "Mod": _modulo,
    "Min": _minimum,
    "Max": _maximum,
    "Equal": _equal,
    "Greater": lambda a, b: _decided(at_least(a, b + 1)),
    "GreaterOrEqual": lambda a, b: _decided(at_least(a, b)),
    "Less": lambda a, b: _decided(at_least(b, a + 1)),
    "LessOrEqual": lambda a, b: _decided(at_least(b, a)),
    "And": lambda a, b: a * b,
    "Or": _maximum,
}


@contents(*_ELEMENTWISE)
def elementwise(call: Call) -> list[Content]:
    """Two or more small tensors combined element by element."""
    if call.number("fmod", 0):
        return [None]
    result = content_of(call, 0)
    for index in range(1, len(call.inputs)):
        result = zipped(_ELEMENTWISE[call.node.op_type], result, content_of(call, index))
    return [result]


@contents("Neg")
def negate(call: Call) -> list[Content]:
    """The opposite."""
    return [zipped(lambda a, b: b - a, content_of(call, 0), 0)]


@contents("Not")
def invert(call: Call) -> list[Content]:
    """0 for 1 and 1 for 0."""
    return [zipped(lambda a, b: b - a, content_of(call, 0), 1)]


@contents("Cast", "CastLike")
def cast(call: Call) -> list[Content]:
    """Integers stay; a constant of floats is truncated; a symbol becomes true only if above 0."""
    to_bool = call.element_type("to") == ir.DataType.BOOL
    content = call.fact(0).content
    if call.dtype(0) not in INTEGERS:
        constant = call.constant(0)
        if constant is None or constant.ndim > 1 or constant.size > MAX_CONTENT:
            return [None]
        if not np.isfinite(constant.astype(np.float64)).all():
            return [None]
        numbers = tuple(int(element) for element in constant.ravel().astype(np.float64))
        content = numbers if constant.ndim else numbers[0]
    return [zipped(lambda a, _: _truth(a), content, 0) if to_bool else content]


def _truth(dim: Dimension) -> Dim:
    if isinstance(dim, int):
        return int(dim != 0)
    return 1 if at_least(dim, 1) else None


@contents("Where")
def where(call: Call) -> list[Content]:
    """The chosen alternative, or what both agree on."""
    condition, yes, no = (content_of(call, index) for index in range(3))
    parts = [part if isinstance(part, tuple) else (part,) for part in (condition, yes, no)]
    length = max(map(len, parts))
    if any(len(part) not in (1, length) for part in parts):
        return [None]
    rows = zip(*(part * length if len(part) == 1 else part for part in parts), strict=True)
    return [tuple(_chosen(*row) for row in rows)]  # the output's shape tells a scalar from these


def _chosen(condition: Dim, yes: Dim, no: Dim) -> Dim:
    if condition is None or isinstance(condition, Expression):
        return yes if yes is not None and yes == no else None
    return yes if condition else no


@contents("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def reduce(call: Call) -> list[Content]:
    """All elements of a vector combined."""
    elements = call.fact(0).content
    axes = call.axes("axes", 1, 1)
    skipped = axes == () and call.number("noop_with_empty_axes", 0)
    if not isinstance(elements, tuple) or not elements or axes is None or skipped:
        return [None]
    combine = {"ReduceProd": "Mul", "ReduceSum": "Add", "ReduceMax": "Max", "ReduceMin": "Min"}
    total: Content = elements[0]
    for element in elements[1:]:
        total = zipped(_ELEMENTWISE[combine[call.node.op_type]], total, element)
    return [total]
