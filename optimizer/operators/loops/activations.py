"""Activations: formulas of one number, some with parameters from attributes."""

from __future__ import annotations

from collections.abc import Callable

from optimizer.loops.building import LoopTensor
from optimizer.loops.formulas import (
    add,
    choose,
    div,
    exp,
    gelu,
    gelu_by_tanh,
    is_below,
    largest,
    least,
    mul,
    number,
    sigmoid,
    softplus,
    sub,
)
from optimizer.loops.scalar import Scalar, apply
from optimizer.operators.call import Call
from optimizer.operators.loops.elementwise import combined
from optimizer.operators.loops.site import NodeLoops

Unary = Callable[[Scalar], Scalar]
"""A number from one number."""


def relu(a: Scalar) -> Scalar:
    """max(a, 0)."""
    return largest(a, number(0, a))


def leaky_relu(call: Call) -> Unary:
    """Below zero, times alpha."""
    slope = call.real("alpha", 0.01)
    return lambda a: choose(is_below(a, number(0, a)), mul(number(slope, a), a), a)


def thresholded_relu(call: Call) -> Unary:
    """Zero up to alpha."""
    limit = call.real("alpha", 1.0)
    return lambda a: choose(apply("gt", a, number(limit, a)), a, number(0, a))


def hard_sigmoid(call: Call) -> Unary:
    """Alpha a + beta between 0 and 1."""
    return _ramp(call.real("alpha", 0.2), call.real("beta", 0.5))


def _ramp(slope: float, offset: float) -> Unary:
    def formula(a: Scalar) -> Scalar:
        line = add(mul(number(slope, a), a), number(offset, a))
        return largest(number(0, a), least(number(1, a), line))

    return formula


def hard_swish(a: Scalar) -> Scalar:
    """A times a ramp."""
    return mul(a, _ramp(1 / 6, 0.5)(a))


def elu(call: Call) -> Unary:
    """Below zero, alpha (exp(a) - 1)."""
    alpha = call.real("alpha", 1.0)
    return lambda a: choose(is_below(a, number(0, a)), mul(number(alpha, a), _bent(a)), a)


def celu(call: Call) -> Unary:
    """max(0, a) + min(0, alpha (exp(a / alpha) - 1))."""
    alpha = call.real("alpha", 1.0)

    def formula(a: Scalar) -> Scalar:
        scale = number(alpha, a)
        zero = number(0, a)
        return add(largest(zero, a), least(zero, mul(scale, _bent(div(a, scale)))))

    return formula


def selu(call: Call) -> Unary:
    """Gamma a, or gamma alpha (exp(a) - 1) up to zero."""
    alpha = call.real("alpha", 1.67326319217681884765625)
    gamma = call.real("gamma", 1.05070102214813232421875)

    def formula(a: Scalar) -> Scalar:
        bent = mul(number(alpha, a), _bent(a))
        return mul(number(gamma, a), choose(apply("gt", a, number(0, a)), a, bent))

    return formula


def _bent(a: Scalar) -> Scalar:
    return sub(exp(a), number(1, a))


def softsign(a: Scalar) -> Scalar:
    """A / (1 + |a|)."""
    return div(a, add(number(1, a), apply("abs", a)))


def mish(a: Scalar) -> Scalar:
    """A tanh(softplus(a))."""
    return mul(a, apply("tanh", softplus(a)))


def shrink(call: Call) -> Unary:
    """Towards zero by bias, and zero between -lambd and lambd."""
    limit, bias = call.real("lambd", 0.5), call.real("bias", 0.0)

    def formula(a: Scalar) -> Scalar:
        up, down = add(a, number(bias, a)), sub(a, number(bias, a))
        inner = choose(apply("gt", a, number(limit, a)), down, number(0, a))
        return choose(is_below(a, number(-limit, a)), up, inner)

    return formula


def swish(call: Call) -> Unary:
    """A times the sigmoid of alpha a."""
    alpha = call.real("alpha", 1.0)
    if alpha == 1.0:
        return lambda a: mul(a, sigmoid(a))
    return lambda a: mul(a, sigmoid(mul(number(alpha, a), a)))


def quick_gelu(call: Call) -> Unary:
    """A times the sigmoid of 1.702 a, or of another factor."""
    alpha = call.real("alpha", 1.702)
    return lambda a: mul(a, sigmoid(mul(number(alpha, a), a)))


def approximate_gelu(call: Call) -> Unary:
    """By erf, or by tanh."""
    return gelu_by_tanh if call.text("approximate", "none") == "tanh" else gelu


def bias_gelu(a: Scalar, bias: Scalar) -> Scalar:
    """Gelu of a sum."""
    return gelu(add(a, bias))


def fast_gelu(site: NodeLoops) -> list[LoopTensor]:
    """Gelu by tanh of a sum with a bias that may be left out."""

    def formula(*terms: Scalar) -> Scalar:
        return gelu_by_tanh(add(*terms))

    return [combined(site, site.operands(), formula)]
