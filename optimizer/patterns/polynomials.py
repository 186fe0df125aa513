"""What a small tree of additions and multiplications computes, whatever its order.

A formula can be spelled out in many ways: `x * 0.5 * (1 + t)`, `0.5 * (x + x * t)`. As a
polynomial in `x` and `t` they are all the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from optimizer.patterns.terms import ARITHMETIC
from optimizer.rules import Context

MOST_NODES = 16
MOST_TERMS = 8
MOST_POWER = 3

Powers = tuple[int, ...]
Polynomial = dict[Powers, float]
"""The power of each variable -> coefficient."""


_ROUNDED = {ir.DataType.FLOAT16: 1e-3, ir.DataType.BFLOAT16: 8e-3}
_ROUNDED_FLOAT = 2e-5


def rounding(dtype: ir.DataType | None) -> float:
    """How far a constant may be off: it was rounded to its type, or typed by hand."""
    return _ROUNDED_FLOAT if dtype is None else _ROUNDED.get(dtype, _ROUNDED_FLOAT)


class Reader:
    """Reads the nodes between a result and its variables.

    Attributes:
        nodes: the arithmetic nodes that were read.
        stopped: the first value that is neither arithmetic, nor a number, nor a variable.
    """

    def __init__(self, variables: Sequence[ir.Value | None], context: Context) -> None:
        """Make a reader.

        Args:
            variables: the values that are not looked into.
            context: of the rule that asks.
        """
        self.nodes: dict[ir.Node, None] = {}
        self.stopped: ir.Value | None = None
        self._variables, self._context = variables, context
        self._zero = (0,) * len(variables)
        self._steps = 0

    def of(self, value: ir.Value | None) -> Polynomial | None:
        """What a value is in terms of the variables; None when it is something else."""
        if value is None:
            return None
        for index, variable in enumerate(self._variables):
            if value is variable:
                return {powers_of(index, len(self._zero)): 1.0}
        number = self._context.scalar(value)
        if number is not None:
            return {self._zero: float(number)}
        node = value.producer()
        self._steps += 1
        arithmetic = node is not None and not node.domain and node.op_type in ARITHMETIC
        if node is None or not arithmetic or self._steps > MOST_NODES:
            self.stopped = self.stopped or value
            return None
        self.nodes[node] = None
        operands = [self.of(operand) for operand in node.inputs]
        if any(operand is None or len(operand) > MOST_TERMS for operand in operands):
            return None
        return combined(node.op_type, [operand for operand in operands if operand is not None])


def agrees(found: Polynomial | None, wanted: Polynomial, tolerance: float) -> bool:
    """Whether two polynomials have the same terms, with coefficients that are nearly equal."""
    if found is None or any(term not in wanted for term, value in found.items() if value):
        return False
    return all(
        math.isclose(found.get(term, 0.0), value, rel_tol=tolerance)
        for term, value in wanted.items()
    )


def same_terms(found: Polynomial | None, wanted: Polynomial) -> bool:
    """Whether two polynomials differ in their coefficients at most."""
    return found is not None and {t for t, value in found.items() if value} == {*wanted}


def combined(operator: str, operands: Sequence[Polynomial]) -> Polynomial | None:
    """What an operator makes of polynomials; None for what is none any more."""
    first = operands[0]
    if operator == "Neg":
        return _scaled(first, -1.0)
    second = operands[1]
    match operator:
        case "Add":
            return _sum(first, second)
        case "Sub":
            return _sum(first, _scaled(second, -1.0))
        case "Mul":
            return _product(first, second)
        case "Div":
            number = _number(second)
            return None if not number else _scaled(first, 1.0 / number)
        case _:
            return _power(first, _number(second))


def powers_of(index: int, count: int) -> Powers:
    """One variable of several, by itself."""
    return tuple(int(place == index) for place in range(count))


def written(polynomial: Polynomial, names: Sequence[str]) -> str:
    """A polynomial for people: "0.5·x + 0.5·x·Erf"."""
    terms: list[str] = []
    for powers, value in sorted(polynomial.items(), key=lambda term: term[0][::-1]):
        factors = [
            name if power == 1 else f"{name}^{power}"
            for name, power in zip(names, powers, strict=True)
            if power
        ]
        number = [] if value == 1 and factors else [f"{value:.4g}"]
        terms.append("·".join([*number, *factors]))
    return " + ".join(terms).replace("+ -", "− ") or "0"


def _number(polynomial: Polynomial) -> float | None:
    """A polynomial without variables."""
    (powers, value), *others = polynomial.items()
    return None if others or any(powers) else value


def _scaled(polynomial: Polynomial, factor: float) -> Polynomial:
    return {powers: value * factor for powers, value in polynomial.items()}


def _sum(first: Polynomial, second: Polynomial) -> Polynomial:
    total = dict(first)
    for powers, value in second.items():
        total[powers] = total.get(powers, 0.0) + value
    return total


def _product(first: Polynomial, second: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for mine, value in first.items():
        for yours, other in second.items():
            both = tuple(a + b for a, b in zip(mine, yours, strict=True))
            total[both] = total.get(both, 0.0) + value * other
    return total


def _power(base: Polynomial, exponent: float | None) -> Polynomial | None:
    if exponent is None or exponent not in range(1, MOST_POWER + 1):
        return None
    result = base
    for _ in range(int(exponent) - 1):
        result = _product(result, base)
    return result
