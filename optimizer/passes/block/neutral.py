"""Operands that change nothing: which they are, and whether dropping them keeps the shape."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.rules import Context

NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1, "Pow": 1}
"""The element that leaves the other operand as it is; for Sub, Div and Pow only on the right."""

_COMMUTES = frozenset({"Add", "Mul"})


@dataclass(frozen=True, slots=True)
class Neutral:
    """A constant operand with a single, neutral element, and the operand it leaves as it is."""

    kept: ir.Value
    constant: ir.Value | None
    element: float | int | bool


def neutral_operand(node: ir.Node, context: Context) -> Neutral | None:
    """The neutral operand of an arithmetic node, if it has one."""
    first, second = node.inputs[0], node.inputs[1]
    if first is None or second is None:
        return None
    if context.is_constant(second):
        kept, constant = first, second
    elif node.op_type in _COMMUTES and context.is_constant(first):
        kept, constant = second, first
    else:
        return None
    element = context.scalar(constant)
    if element is None or element != NEUTRAL[node.op_type] or kept.dtype is None:
        return None
    return Neutral(kept, constant, element)


def adds_positive_zero(node: ir.Node, found: Neutral) -> bool:
    """Whether the node adds +0 in floating point, which turns -0 into +0 and is not a copy."""
    if node.op_type not in ("Add", "Sub") or not isinstance(found.element, float):
        return False
    negative = math.copysign(1.0, found.element) < 0
    return negative == (node.op_type == "Sub")


def keeps_shape(node: ir.Node, found: Neutral, context: Context) -> bool:
    """Whether broadcasting with the constant leaves the shape as it is."""
    rank, width = context.rank(found.kept), context.rank(found.constant)
    if rank is not None and width is not None and width <= rank:
        shape = np.ones(0) if found.constant is None else found.constant.shape
        if shape is not None and all(size == 1 for size in shape):
            return True
    return width == 0 or context.same_shape(found.kept, node.outputs[0])
