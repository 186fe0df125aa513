"""Arithmetic and decisions on small integer tensors whose elements may be sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension, Expression, at_least, exact_divide, floor_divide
from optimizer.operators.call import INTEGERS, MAX_CONTENT, Call, Content, Dim
from optimizer.operators.operator import ContentRule

Combine = Callable[[Dimension, Dimension], Dim]


def zipped(combine: Combine, left: Content, right: Content) -> Content:
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


def added(left: Dimension, right: Dimension) -> Dim:
    """The sum."""
    return left + right


def subtracted(left: Dimension, right: Dimension) -> Dim:
    """The difference."""
    return left - right


def multiplied(left: Dimension, right: Dimension) -> Dim:
    """The product."""
    return left * right


def divided(numerator: Dimension, divisor: Dimension) -> Dim:
    """The quotient as integers divide: cut off towards 0."""
    if isinstance(numerator, int) and isinstance(divisor, int):
        if divisor == 0:
            return None
        whole = abs(numerator) // abs(divisor)  # integer division truncates
        return whole if (numerator < 0) == (divisor < 0) else -whole
    exact = exact_divide(numerator, divisor)
    if exact is not None or not isinstance(divisor, int) or divisor <= 0:
        return exact
    return floor_divide(numerator, divisor) if at_least(numerator, 0) else None


def modulo(numerator: Dimension, divisor: Dimension) -> Dim:
    """What is left, with the sign of the divisor."""
    if isinstance(numerator, int) and isinstance(divisor, int):
        return numerator % divisor if divisor else None  # the sign of the divisor, as in numpy
    return 0 if exact_divide(numerator, divisor) is not None else None


def minimum(left: Dimension, right: Dimension) -> Dim:
    """The smaller one, where that is certain."""
    decided = at_least(left, right)
    if decided is None:
        return left if at_least(right, left) else None
    return right if decided else left


def maximum(left: Dimension, right: Dimension) -> Dim:
    """The larger one, where that is certain."""
    decided = at_least(left, right)
    if decided is None:
        return right if at_least(right, left) else None
    return left if decided else right


def equal(left: Dimension, right: Dimension) -> Dim:
    """1 where both are certainly the same, 0 where they certainly differ."""
    if left == right:
        return 1
    apart = isinstance(left - right, int) or at_least(left, right + 1) or at_least(right, left + 1)
    return 0 if apart else None


def _decided(answer: bool | None) -> Dim:
    return None if answer is None else int(answer)


def greater(left: Dimension, right: Dimension) -> Dim:
    """1 where the left side is certainly greater, 0 where it certainly is not."""
    return _decided(at_least(left, right + 1))


def not_less(left: Dimension, right: Dimension) -> Dim:
    """1 where the left side is certainly at least as large."""
    return _decided(at_least(left, right))


def less(left: Dimension, right: Dimension) -> Dim:
    """1 where the left side is certainly smaller."""
    return greater(right, left)


def not_greater(left: Dimension, right: Dimension) -> Dim:
    """1 where the left side is certainly at most as large."""
    return not_less(right, left)


def combining(combine: Combine) -> ContentRule:
    """Two or more small tensors combined element by element."""

    def rule(call: Call) -> list[Content]:
        if call.number("fmod", 0):
            return [None]
        result = content_of(call, 0)
        for index in call.inputs[1:]:
            result = zipped(combine, result, content_of(call, index))
        return [result]

    return rule


def negate(call: Call) -> list[Content]:
    """The opposite."""
    return [zipped(lambda a, b: b - a, content_of(call, 0), 0)]


def invert(call: Call) -> list[Content]:
    """0 for 1 and 1 for 0."""
    return [zipped(lambda a, b: b - a, content_of(call, 0), 1)]


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


def reducing(combine: Combine) -> ContentRule:
    """All elements of a vector combined."""

    def rule(call: Call) -> list[Content]:
        elements = call.fact(0).content
        axes = call.axes("axes", 1, 1)
        skipped = axes == () and call.number("noop_with_empty_axes", 0)
        is_vector = len(call.shape(0) or ()) == 1  # of a matrix there may be a number a row
        if not isinstance(elements, tuple) or not elements or axes is None or skipped:
            return [None]
        if not is_vector:
            return [None]
        total: Content = elements[0]
        for element in elements[1:]:
            total = zipped(combine, total, element)
        return [total]

    return rule
