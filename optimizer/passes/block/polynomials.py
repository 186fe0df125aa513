"""What a small tree of additions and multiplications computes, whatever its order.

A formula can be spelled out in many ways: `x * 0.5 * (1 + t)`, `0.5 * (x + x * t)`. As a
polynomial in `x` and `t` they are all the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import onnx_ir as ir

from optimizer.rules import Context

ARITHMETIC = frozenset({"Add", "Div", "Mul", "Neg", "Pow", "Sub"})
MOST_NODES = 16
MOST_TERMS = 8
MOST_POWER = 3

Term = tuple[int, int]
Polynomial = dict[Term, float]
"""Powers of the two variables -> coefficient."""


class Formula:
    """Reads the nodes between a result and its variables.

    Attributes:
        nodes: the arithmetic nodes that were read.
    """

    def __init__(self, variables: Mapping[ir.Value, Term], context: Context) -> None:
        """Make a reader.

        Args:
            variables: the values that are not looked into: (1, 0) is the first, (0, 1) the second.
            context: of the rule that asks.
        """
        self.nodes: dict[ir.Node, None] = {}
        self._variables, self._context = variables, context
        self._steps = 0

    def of(self, value: ir.Value | None) -> Polynomial | None:
        """What a value is in terms of the variables; None when it is something else."""
        if value is None:
            return None
        term = self._variables.get(value)
        if term is not None:
            return {term: 1.0}
        if self._context.is_constant(value):
            number = self._context.scalar(value)
            return None if number is None else {(0, 0): float(number)}
        node = value.producer()
        self._steps += 1
        if node is None or node.domain or node.op_type not in ARITHMETIC:
            return None
        if self._steps > MOST_NODES:
            return None
        self.nodes[node] = None
        operands = [self.of(operand) for operand in node.inputs]
        if any(operand is None or len(operand) > MOST_TERMS for operand in operands):
            return None
        return _combined(node.op_type, [operand for operand in operands if operand is not None])


def agrees(found: Polynomial | None, wanted: Polynomial, tolerance: float) -> bool:
    """Whether two polynomials have the same terms, with coefficients that are nearly equal."""
    if found is None or any(term not in wanted for term, value in found.items() if value):
        return False
    return all(
        math.isclose(found.get(term, 0.0), value, rel_tol=tolerance)
        for term, value in wanted.items()
    )


def _combined(operator: str, operands: list[Polynomial]) -> Polynomial | None:
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


def _number(polynomial: Polynomial) -> float | None:
    return polynomial[0, 0] if set(polynomial) == {(0, 0)} else None


def _scaled(polynomial: Polynomial, factor: float) -> Polynomial:
    return {term: value * factor for term, value in polynomial.items()}


def _sum(first: Polynomial, second: Polynomial) -> Polynomial:
    total = dict(first)
    for term, value in second.items():
        total[term] = total.get(term, 0.0) + value
    return total


def _product(first: Polynomial, second: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for (a, b), value in first.items():
        for (c, d), other in second.items():
            total[a + c, b + d] = total.get((a + c, b + d), 0.0) + value * other
    return total


def _power(base: Polynomial, exponent: float | None) -> Polynomial | None:
    if exponent is None or exponent not in range(1, MOST_POWER + 1):
        return None
    result = base
    for _ in range(int(exponent) - 1):
        result = _product(result, base)
    return result
