"""Functions of numbers in Halide that keep to IEEE and to NumPy where Halide's own do not.

Halide's exp makes 0 of NaN and of infinity, its erf NaN of infinity, its log a number of NaN, and
its tanh is a call of the C library for each element. All of this presumes Halide's `strict_float`:
without it, the compiler takes for granted that there are no NaNs.
"""

from __future__ import annotations

import math

from profiling.codegen.halide_bindings import Expr, hl

_TANH_ODD = (
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
    1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03,
)  # fmt: skip
_TANH_EVEN = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03,
              4.89352518554385e-03)  # fmt: skip
_TANH_ONE = 7.90531110763549805
"""From here on, the quotient of the two polynomials is 1 in float32."""

_SMALLEST_NORMAL = 2.0**-126
_TO_NORMAL = 23


def number(value: float, like: Expr) -> Expr:
    """A constant of another expression's type, which is one of floats."""
    return hl.f64(value) if like.type().bits() == 64 else hl.f32(value)


def largest(a: Expr, b: Expr) -> Expr:
    """The larger one; NaN where either is one."""
    found = hl.select(a > b, a, b)  # b, where either is NaN
    return hl.select(hl.is_nan(a), a, found) if a.type().is_float() else found


def smallest(a: Expr, b: Expr) -> Expr:
    """The smaller one; NaN where either is one."""
    found = hl.select(a < b, a, b)
    return hl.select(hl.is_nan(a), a, found) if a.type().is_float() else found


def at_least(bound: Expr, a: Expr) -> Expr:
    """The larger one, where `bound` is no NaN: one instruction, and NaN stays."""
    return hl.select(bound > a, bound, a)


def at_most(bound: Expr, a: Expr) -> Expr:
    """The smaller one, where `bound` is no NaN: one instruction, and NaN stays."""
    return hl.select(bound < a, bound, a)


def sign(a: Expr) -> Expr:
    """-1, 0 or 1; NaN stays."""
    one = hl.cast(a.type(), 1)
    zero = hl.cast(a.type(), 0)
    below = hl.select(a < zero, zero - one, a)
    return hl.select(a > zero, one, below)


def exp(a: Expr) -> Expr:
    """The exponential."""
    if a.type().bits() != 32:
        return hl.exp(a)
    held = at_most(hl.f32(89.0), at_least(hl.f32(-104.0), a))
    return hl.select(hl.is_nan(a), a, hl.exp(held))


def log(a: Expr) -> Expr:
    """The natural logarithm."""
    if a.type().bits() != 32:
        return hl.log(a)
    tiny = a < hl.f32(_SMALLEST_NORMAL)
    scaled = hl.log(hl.select(tiny, a * hl.f32(2.0**_TO_NORMAL), a))
    found = hl.select(tiny, scaled - hl.f32(_TO_NORMAL * math.log(2)), scaled)
    edge = hl.select(a == hl.f32(0.0), hl.f32(-math.inf), hl.f32(math.nan))
    positive = hl.select(a == hl.f32(math.inf), a, found)
    return hl.select(hl.is_nan(a), a, hl.select(a > hl.f32(0.0), positive, edge))


def erf(a: Expr) -> Expr:
    """The error function."""
    if a.type().bits() != 32:
        return hl.erf(a)
    held = at_most(hl.f32(4.0), at_least(hl.f32(-4.0), a))
    return hl.select(hl.is_nan(a), a, hl.erf(held))


def tanh(a: Expr) -> Expr:
    """The hyperbolic tangent: in float32, a quotient of polynomials.

    Source: Eigen's `ptanh_float`, which ONNX Runtime's kernel follows, too.
    """
    if a.type().bits() != 32:
        return hl.tanh(a)
    held = at_most(hl.f32(_TANH_ONE), at_least(hl.f32(-_TANH_ONE), a))
    square = held * held
    return held * (_polynomial(square, _TANH_ODD) / _polynomial(square, _TANH_EVEN))


def power(base: Expr, exponent: float) -> Expr | None:
    """A power whose exponent is a constant that roots and products reach; None for others."""
    if abs(exponent) == 0.5:
        root = hl.sqrt(base + number(0.0, base))  # of -0 it is 0
        root = hl.select(base == number(-math.inf, base), -base, root)
        return root if exponent > 0 else number(1.0, base) / root
    if exponent != int(exponent) or not 1 <= abs(exponent) <= 8:
        return None
    found = _product(base, int(abs(exponent)))
    return number(1.0, base) / found if exponent < 0 else found


def _product(base: Expr, times: int) -> Expr:
    if times == 1:
        return base
    half = _product(base, times // 2)
    return half * half * base if times % 2 else half * half


def _polynomial(x: Expr, coefficients: tuple[float, ...]) -> Expr:
    """By Horner's rule, the highest degree first."""
    found: Expr = hl.f32(coefficients[0])
    for coefficient in coefficients[1:]:
        found = found * x + hl.f32(coefficient)
    return found
