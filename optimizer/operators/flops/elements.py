"""Operators that do a little for each element: elementwise, reductions, pools, what only moves."""

from __future__ import annotations

from math import prod

from optimizer.operators.call import Call
from optimizer.operators.operator import Formula


def times(factor: int, count: int | None) -> int | None:
    """The product; unknown where the count is."""
    return None if count is None else factor * count


def per_element(call: Call) -> int | None:
    """out: one operation for each element of the output."""
    return call.out()


def fixed(factor: int) -> Formula:
    """`factor` operations for each element of the output."""
    return lambda call: times(factor, call.out())


def moving(call: Call) -> int:
    """Moving data is no arithmetic."""
    return 0


def per_input_element(call: Call) -> int | None:
    """in: every element is looked at once."""
    return call.count()


def two_per_input_element(call: Call) -> int | None:
    """2 * in: every element is transformed and added."""
    return times(2, call.count())


def five_per_input_element(call: Call) -> int | None:
    """5 * in."""
    return times(5, call.count())


def variadic(call: Call) -> int | None:
    """(inputs - 1) * out, Mean divides as well."""
    operands = len(call.node.inputs)
    return times(operands - (call.node.op_type != "Mean"), call.out())


def pool(call: Call) -> int | None:
    """Out * kernel."""
    kernel = call.numbers("kernel_shape")
    return None if kernel is None else times(prod(kernel), call.out())


def local_response_normalization(call: Call) -> int | None:
    """Out * (2*size + 3): squares and sums over the window, then scale, power, divide."""
    return times(2 * call.number("size", 1) + 3, call.out())


def resize(call: Call) -> int | None:
    """Nearest moves only; linear 2*2^d and cubic 2*4^d for each output, d spatial axes."""
    mode, shape = call.text("mode", "nearest"), call.sizes(0)
    if mode == "nearest" or shape is None:
        return None if shape is None else 0
    taps = 4 if mode == "cubic" else 2
    return times(2 * taps ** max(len(shape) - 2, 1), call.out())
