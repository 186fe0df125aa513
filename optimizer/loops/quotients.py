"""Products with a reciprocal as quotients: x (1 / d) -> x / d, as in x sigmoid(x).

Only where d is at least 1: then neither form overflows, and both make the same of infinities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from optimizer.loops.algorithm import Algorithm, Func
from optimizer.loops.scalar import (
    Apply,
    Element,
    Number,
    Scalar,
    apply,
    parts_of,
    rewritten,
    with_indices,
)


def with_quotients(algorithm: Algorithm) -> Algorithm:
    """The algorithm with quotients where a reciprocal is a factor of one product and nothing else.

    A Func that was such a reciprocal is its denominator then.
    """
    times = Counter(_operands(algorithm))
    denominators = {
        func.name: found
        for func in algorithm.funcs
        if func.reduction is None and func.name not in algorithm.outputs
        if times[func.name] == 1 and (found := _denominator(func.body)) is not None
    }
    divided: set[str] = set()
    changed = [_divided(func, algorithm, denominators, divided) for func in algorithm.funcs]
    funcs = [
        replace(func, body=denominators[func.name]) if func.name in divided else func
        for func in changed
    ]
    return replace(algorithm, funcs=tuple(funcs))


def with_divisors_written_out(algorithm: Algorithm, kept: Collection[str]) -> Algorithm:
    """The algorithm with each 1 + exp(x) that a quotient alone reads as a part of that quotient.

    Args:
        algorithm: what is computed.
        kept: Funcs that stay what they are.
    """
    times = Counter(_operands(algorithm))
    divisors = {
        func.name
        for func in algorithm.funcs
        if func.reduction is None and func.name not in {*algorithm.outputs, *kept}
        if times[func.name] == 1 and exponent_of(func.body) is not None
    }
    funcs: dict[str, Func] = {}

    def change(part: Scalar) -> Scalar:
        if not isinstance(part, Apply) or part.function != "div":
            return part
        above, below = part.arguments
        if not isinstance(below, Element) or below.tensor not in divisors:
            return part
        func = funcs.pop(below.tensor)
        names = (axis.name for axis in func.axes)
        places = dict(zip(names, below.indices, strict=True))
        return apply("div", above, with_indices(func.body, places))

    for func in algorithm.funcs:
        funcs[func.name] = replace(func, body=rewritten(func.body, change))
    return replace(algorithm, funcs=tuple(funcs.values()))


def _divided(
    func: Func, algorithm: Algorithm, denominators: dict[str, Scalar], divided: set[str]
) -> Func:
    """A Func with quotients; notes which Funcs are to be denominators."""
    alike = [
        name
        for name in denominators
        if func.reduction is None and algorithm.by_name[name].shape == func.shape
    ]

    def change(part: Scalar) -> Scalar:
        if not isinstance(part, Apply) or part.function != "mul":
            return part
        one, other = part.arguments
        for factor, reciprocal in ((one, other), (other, one)):
            below = _denominator(reciprocal)
            if below is not None:
                return apply("div", factor, below)
            if isinstance(reciprocal, Element) and reciprocal.tensor in alike:
                divided.add(reciprocal.tensor)
                return apply("div", factor, reciprocal)
        return part

    return replace(func, body=rewritten(func.body, change))


def _denominator(scalar: Scalar) -> Scalar | None:
    """What 1 is divided by, if that is 1 and an exponential."""
    if (
        not isinstance(scalar, Apply)
        or scalar.function != "div"
        or not _is_one(scalar.arguments[0])
    ):
        return None
    below = scalar.arguments[1]
    return None if exponent_of(below) is None else below


def exponent_of(scalar: Scalar) -> Scalar | None:
    """The x of 1 + exp(x)."""
    if not isinstance(scalar, Apply) or scalar.function != "add":
        return None
    powers = [one for one in scalar.arguments if isinstance(one, Apply) and one.function == "exp"]
    return powers[0].arguments[0] if powers and any(map(_is_one, scalar.arguments)) else None


def _is_one(scalar: Scalar) -> bool:
    return isinstance(scalar, Number) and scalar.value == 1


def _operands(algorithm: Algorithm) -> list[str]:
    """The tensor of each element that is an operand."""
    found: list[str] = []
    for func in algorithm.funcs:
        applied = [part for part in parts_of(func.body) if isinstance(part, Apply)]
        operands = [func.body, *(one for part in applied for one in part.arguments)]
        found += [one.tensor for one in operands if isinstance(one, Element)]
    return found
