"""Two constants in a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)

_GROUPS = {"Add": "sum", "Sub": "sum", "Mul": "product", "Div": "product"}
_LIMITS = {
    np.dtype(np.float16): 2.0**6,
    np.dtype(np.float32): 2.0**40,
    np.dtype(np.float64): 2.0**200,
}
"""Factors beyond these, or below their inverses, might overflow or vanish on the way."""
_CANCELLATION = 2.0**8
"""How much larger than their sum two addends may be."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One operator with a constant operand.

    Attributes:
        operand: what is not constant.
        constant: what is.
        constant_first: whether the constant is on the left.
    """

    operand: ir.Value
    constant: np.ndarray
    constant_first: bool


@register
class ReassociateConstants(Pass):
    """Combine the constants of two operators in a row.

    What it does:
        (x + a) + b becomes x + (a + b), with all variants of Add and Sub; (x * a) * b becomes
        x * (a * b), with all variants of Mul and Div.
    Before:
        x → Mul(0.5) → Div(8)
    After:
        x → Mul(0.0625)
    When it is safe:
        Nothing else reads the value in between. The combined constant is no larger than the larger
        of the two, is finite, and neither constant is so large or small that the order would
        matter beyond rounding.
    Numerics:
        The same mathematics with one rounding less; exact for integers, where Div is left alone.
    Source:
        Associativity; the same as LLVM's reassociate.
    """

    id = "reassociate-constants"
    exactness = "reassociates"
    order = 64

    @rule(*_GROUPS, name="ConstantChain", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Two operators of one group, each with a constant."""
        outer = _step(node, context)
        if outer is None:
            return None
        above = outer.operand.producer()
        if above is None or above.domain or _GROUPS.get(above.op_type) != _GROUPS[node.op_type]:
            return None
        inner = _step(above, context)
        if inner is None or inner.constant.dtype != outer.constant.dtype:
            return None
        if not context.single_use(outer.operand):
            return Declined(f"The output of {above.op_type} has a second consumer.", (above,))
        problem = _problem(node, above, inner.constant, outer.constant)
        if problem is not None:
            return Declined(problem, (above,))
        return _merged(node, above, inner, outer)


def _step(node: ir.Node, context: Context) -> _Step | None:
    first, second = node.inputs[0], node.inputs[1]
    if first is None or second is None or context.opset() < 7:
        return None
    if context.is_constant(second) and not context.is_constant(first):
        constant = context.array(second)
        return None if constant is None else _Step(first, constant, constant_first=False)
    if context.is_constant(first) and not context.is_constant(second):
        constant = context.array(first)
        return None if constant is None else _Step(second, constant, constant_first=True)
    return None


def _problem(node: ir.Node, above: ir.Node, a: np.ndarray, b: np.ndarray) -> str | None:
    """Why the two constants may not be combined."""
    try:
        size = np.broadcast(a, b).size
    except ValueError:
        return "The constants do not broadcast together."
    if size > max(a.size, b.size):
        return f"The combined constant would have {size:,} elements instead of {a.size + b.size:,}."
    if np.issubdtype(a.dtype, np.integer):
        divides = "Div" in (node.op_type, above.op_type)
        return "An integer division drops its remainder, so the order matters." if divides else None
    if a.dtype not in _LIMITS:
        return f"Constants of type {a.dtype} are left alone."
    if _GROUPS[node.op_type] == "product":
        return _extreme(a, b)
    return None


def _extreme(a: np.ndarray, b: np.ndarray) -> str | None:
    limit = _LIMITS[a.dtype]
    for constant in (a, b):
        magnitude = np.abs(constant)
        if not ((magnitude >= 1 / limit) & (magnitude <= limit)).all():
            return "A factor is 0, not finite, or so extreme that the order might matter."
    return None


def _merged(node: ir.Node, above: ir.Node, inner: _Step, outer: _Step) -> Outcome:
    """The one operator that does the work of both."""
    product = _GROUPS[node.op_type] == "product"
    signs, outer_signs = _signs(above, inner), _signs(node, outer)
    # (s*x + c*a)*t + d*b -> (s*t)*x + (c*t)*a + d*b; for products, signs are exponents
    varies = signs[0] * outer_signs[0]
    weights = (signs[1] * outer_signs[0], outer_signs[1])
    turned = weights == (-1, -1)
    weights = (1, 1) if turned else weights
    constants = (inner.constant, outer.constant)
    combined = _product(constants, weights) if product else _sum(constants, weights)
    if combined is None:
        return Declined("The constants nearly cancel, so the order matters.", (above,))
    forward, backward = ("Mul", "Div") if product else ("Add", "Sub")
    constant = NewInitializer.of(combined, _hint(node, above))
    operands: list[Operand] = [inner.operand, constant]
    if varies < 0:
        operands.reverse()
    merged = NewNode(backward if turned or varies < 0 else forward, operands)
    reason = f"The constants of {above.op_type} and {node.op_type} are combined."
    return Replacement.by(merged, reason, above, node)


def _signs(node: ir.Node, step: _Step) -> tuple[int, int]:
    """Signs of what varies and of the constant."""
    if node.op_type in ("Add", "Mul"):
        return 1, 1
    return (-1, 1) if step.constant_first else (1, -1)


def _sum(constants: tuple[np.ndarray, np.ndarray], weights: tuple[int, int]) -> np.ndarray | None:
    a, b = constants
    with np.errstate(all="ignore"):
        total = np.asarray(b - a if weights[0] < 0 else a + b if weights[1] > 0 else a - b)
    if np.issubdtype(a.dtype, np.integer):
        return total.astype(a.dtype)
    largest = np.maximum(np.abs(a), np.abs(b))
    steady = np.isfinite(total) & (largest <= _CANCELLATION * np.maximum(np.abs(total), 1))
    return total.astype(a.dtype) if steady.all() else None


def _product(constants: tuple[np.ndarray, np.ndarray], weights: tuple[int, int]) -> np.ndarray:
    a, b = constants
    if np.issubdtype(a.dtype, np.integer):
        return np.asarray(a * b).astype(a.dtype)
    # one rounding, not two
    wide, other = a.astype(np.float64), b.astype(np.float64)
    result = other / wide if weights[0] < 0 else wide * other if weights[1] > 0 else wide / other
    return np.asarray(result).astype(a.dtype)


def _hint(node: ir.Node, above: ir.Node) -> str:
    """A name for the new constant: that of the larger old one."""
    named = [
        v.name for n in (above, node) for v in n.inputs if v is not None and v.is_initializer()
    ]
    name = next((name for name in named if name), "constant")
    return name.partition("~")[0]
