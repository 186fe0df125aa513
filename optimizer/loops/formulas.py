"""Expressions written as people write them: sums, products, choices of numbers of one type."""

from __future__ import annotations

import math
from functools import reduce

import onnx_ir as ir

from optimizer.loops.scalar import BOOL, Number, Scalar, ScalarFunction, apply, cast

HALVES = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})
FLOATS = frozenset({*HALVES, ir.DataType.FLOAT, ir.DataType.DOUBLE})


def wide(dtype: ir.DataType) -> ir.DataType:
    """The type that arithmetic of this type is done in: 16-bit floats compute in float32."""
    return ir.DataType.FLOAT if dtype in HALVES else dtype


def number(value: float, like: Scalar) -> Number:
    """A constant of another number's type."""
    return Number(float(value) if like.dtype in FLOATS else int(value), like.dtype)


def add(*terms: Scalar) -> Scalar:
    """The sum, from left to right."""
    return _folded("add", terms)


def mul(*factors: Scalar) -> Scalar:
    """The product, from left to right."""
    return _folded("mul", factors)


def _folded(function: ScalarFunction, terms: tuple[Scalar, ...]) -> Scalar:
    return reduce(lambda a, b: apply(function, a, b), terms)


def sub(a: Scalar, b: Scalar) -> Scalar:
    """A - b."""
    return apply("sub", a, b)


def div(a: Scalar, b: Scalar) -> Scalar:
    """A / b; of integers, rounded towards zero."""
    return apply("div", a, b)


def exp(a: Scalar) -> Scalar:
    """The exponential."""
    return apply("exp", a)


def least(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one."""
    return apply("min", a, b)


def largest(a: Scalar, b: Scalar) -> Scalar:
    """The larger one."""
    return apply("max", a, b)


def choose(condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    """One or the other; what is not chosen is not read."""
    return apply("select", condition, yes, no)


def is_below(a: Scalar, b: Scalar) -> Scalar:
    """A < b."""
    return apply("lt", a, b)


def magnitude(a: Scalar) -> Scalar:
    """|a|."""
    return apply("abs", a)


def square(a: Scalar) -> Scalar:
    """a²."""
    return mul(a, a)


def root(a: Scalar) -> Scalar:
    """The square root."""
    return apply("sqrt", a)


def logarithm(a: Scalar) -> Scalar:
    """The natural logarithm."""
    return apply("log", a)


def reciprocal(a: Scalar) -> Scalar:
    """1 / a."""
    return div(number(1, a), a)


def sigmoid(a: Scalar) -> Scalar:
    """1 / (1 + exp(-a))."""
    return reciprocal(add(number(1, a), exp(apply("neg", a))))


def softplus(a: Scalar) -> Scalar:
    """log(1 + exp(a)), without overflow."""
    rest = apply("log", add(exp(apply("neg", apply("abs", a))), number(1, a)))
    return add(largest(a, number(0, a)), rest)


def gelu(a: Scalar) -> Scalar:
    """0.5 a (1 + erf(a / sqrt 2))."""
    bent = add(number(1, a), apply("erf", mul(a, number(math.sqrt(0.5), a))))
    return mul(number(0.5, a), a, bent)


def gelu_by_tanh(a: Scalar) -> Scalar:
    """0.5 a (1 + tanh(sqrt(2 / pi) (a + 0.044715 a³)))."""
    cubic = mul(number(0.044715, a), a, a, a)
    inner = mul(number(math.sqrt(2 / math.pi), a), add(a, cubic))
    return mul(number(0.5, a), a, add(number(1, a), apply("tanh", inner)))


def modulo(a: Scalar, b: Scalar) -> Scalar:
    """What integer division leaves, with the sign of the divisor."""
    rest = remainder(a, b)
    zero = number(0, a)
    differ = apply("xor", is_below(rest, zero), is_below(b, zero))
    wrapped = apply("and", apply("ne", rest, zero), differ)
    return choose(wrapped, add(rest, b), rest)


def remainder(a: Scalar, b: Scalar) -> Scalar:
    """What integer division leaves, with the sign of the dividend."""
    return sub(a, mul(b, div(a, b)))


def converted(scalar: Scalar, dtype: ir.DataType) -> Scalar:
    """The number as Cast gives it: to yes or no by comparing with 0, to 16 bits by float32."""
    source = scalar.dtype
    if source == dtype:
        return scalar
    if dtype == BOOL:
        inner = cast(scalar, wide(source))
        return apply("ne", inner, number(0, inner))
    if dtype in HALVES or source in HALVES:
        return cast(cast(scalar, ir.DataType.FLOAT), dtype)
    return cast(scalar, dtype)
