"""Functions of numbers in Halide that keep to IEEE and to NumPy where Halide's own do not.

Halide's exp makes 0 of NaN and of infinity, its erf NaN of infinity, its log a number of NaN, and
its tanh is a call of the C library for each element. What is here presumes that operations are
strict, but for what is said to be contracted: from there, whoever asks is told that nothing is NaN.
"""

from __future__ import annotations

import math

from profiling.codegen.halide_bindings import Expr, hl
from profiling.codegen.halide_stages import Stages

_EXP = (0.008290229365229607, 0.04189838841557503, 0.16667640209197998, 0.49999144673347473,
        0.9999997019767761, 1.0)  # fmt: skip
"""Of exp within half a logarithm of 2 around 0: relative error 1e-7 at most."""
_LOG2_E = 1.44269504
_LN_2, _LN_2_LONG = 0.693147180559945, (0.693359375, -2.12194440e-4)
"""The logarithm of 2; of the parts of the long one, whole numbers times the first are exact."""
_EXP_LEAST, _EXP_MOST = -87.3, 89.0
"""Below, exp is 0 in float32, and above, infinity."""
_TO_EXPONENT = 1.5 * 2**23 + 126
"""Added to a float32, it leaves the nearest whole number in the last bits, and 126 more: the bits
of half the power of 2, once they are where a float32 has its exponent."""
_MANTISSA_BITS = 23

_ERF_ODD = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
    -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
_ERF_EVEN = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
             -7.37332916720468e-03, -1.42647390514189e-02)  # fmt: skip
_ERF_ONE = 4.0
"""Here, the quotient of the two polynomials is 1 in float32, contracted or not."""

_TANH_ODD = (
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
    1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03,
)  # fmt: skip
_TANH_EVEN = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03,
              4.89352518554385e-03)  # fmt: skip
_TANH_ONE = 8.07809448
"""Here, the quotient of the two polynomials is 1 in float32, products and sums contracted or not:
a gate of minus infinity times what is left of 1 otherwise would be infinite, and is NaN."""

_SMALLEST_NORMAL = 2.0**-126
_TO_NORMAL = 23
_SCALE = 2.0**64


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


def quotient_of_row(a: Expr, b: Expr) -> Expr:
    """A quotient of float32 whose divisor is the same in many rounds: products with its reciprocal.

    What is too large or too small for a reciprocal is scaled by a power of two first.
    """
    size = hl.abs(b)
    small = hl.select(size < hl.f32(1 / _SCALE), hl.f32(_SCALE), hl.f32(1.0))
    scale = hl.select(size > hl.f32(_SCALE), hl.f32(1 / _SCALE), small)
    return a * scale * (hl.f32(1.0) / (b * scale))


def exp(a: Expr, stages: Stages) -> Expr:
    """The exponential; NaN stays on all the way."""
    if a.type().bits() != 32:
        return hl.exp(a)
    doubled, half = _exp_factors(a, stages)
    return doubled * half


def quotient_by_exp_and_1(a: Expr, b: Expr, stages: Stages) -> Expr:
    """The quotient a / (exp(b) + 1), product and sum in one; `a` is no constant.

    Whoever asks for NaN is told wrong of the divisor, but not of the quotient of an unknown number.
    """
    if b.type().bits() != 32 or not stages.fused:
        return a / (exp(b, stages) + number(1.0, b))
    doubled, half = _exp_factors(b, stages)
    return a / stages.contracted(doubled * half + hl.f32(1.0))


def _exp_factors(a: Expr, stages: Stages) -> tuple[Expr, Expr]:
    """Of exp of a float32: twice a polynomial, and half of 2 to a whole number.

    Half the power is never infinite, so that the product overflows where it should.
    """
    held = stages.strict(at_most(hl.f32(_EXP_MOST), at_least(hl.f32(_EXP_LEAST), a)))
    shifted = stages.contracted(held * hl.f32(_LOG2_E) + hl.f32(_TO_EXPONENT))
    times = stages.strict(shifted - hl.f32(_TO_EXPONENT))
    rest = stages.contracted(held - times * hl.f32(_LN_2))
    if not stages.fused:
        large, small = map(hl.f32, _LN_2_LONG)
        rest = stages.strict(held - times * large - times * small)
    doubled = stages.contracted(_polynomial(rest, tuple(2 * one for one in _EXP)))
    exponent = hl.reinterpret(hl.Int(32), shifted) << _MANTISSA_BITS
    return doubled, hl.reinterpret(hl.Float(32), exponent)


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


def erf(a: Expr, stages: Stages) -> Expr:
    """The error function: in float32, a quotient of polynomials.

    Source: Eigen's `generic_fast_erf_float`.
    """
    if a.type().bits() != 32:
        return hl.erf(a)
    return _odd_quotient(a, _ERF_ODD, _ERF_EVEN, stages, end=_ERF_ONE)


def tanh(a: Expr, stages: Stages) -> Expr:
    """The hyperbolic tangent: in float32, a quotient of polynomials.

    Source: Eigen's `ptanh_float`, which ONNX Runtime's kernel follows, too.
    """
    if a.type().bits() != 32:
        return hl.tanh(a)
    return _odd_quotient(a, _TANH_ODD, _TANH_EVEN, stages, end=_TANH_ONE)


def _odd_quotient(
    a: Expr, odd: tuple[float, ...], even: tuple[float, ...], stages: Stages, *, end: float
) -> Expr:
    """An odd function that is constant from `end` on: a P(a²) / Q(a²)."""
    held = stages.strict(at_most(hl.f32(end), at_least(hl.f32(-end), a)))
    square = held * held
    over = stages.contracted(held * _polynomial(square, odd))
    return over / stages.contracted(_polynomial(square, even))


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
