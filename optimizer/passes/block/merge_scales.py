"""Scales of both factors of a matrix product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    producer_of,
)

_LARGEST = {
    ir.DataType.FLOAT16: 2.0**4,
    ir.DataType.FLOAT: 2.0**40,
    ir.DataType.DOUBLE: 2.0**200,
}
"""Scales beyond these, or below their inverses, might overflow or vanish on the way."""


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A factor of a product that one number multiplies.

    Attributes:
        node: the Mul or Div.
        factor: what it scales.
        scale: by how much.
    """

    node: ir.Node
    factor: ir.Value
    scale: float


@register
class MergeScales(Pass):
    """Scale one factor of a MatMul instead of both.

    What it does:
        Where each factor of a MatMul is multiplied or divided by a number, one of them is by the
        product of both numbers, and the other one is left as it is. Exporters write attention so:
        queries and keys by the root of the scale each.
    Before:
        q → Mul(0.5) → MatMul(·, k → Mul(0.5))
    After:
        q → Mul(0.25) → MatMul(·, k)
    When it is safe:
        Both numbers are constant scalars, finite, and not so large or small that the order would
        matter beyond rounding. Nothing else reads the scaled factors.
    Numerics:
        The same mathematics with one rounding less.
    Source:
        (s A) (t B) = (s t A) B.
    """

    id = "merge-scales"
    exactness = "reassociates"
    order = 65

    @rule("MatMul", name="ScaledFactors", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A product of two scaled factors."""
        first, second = (_scaled(value, context) for value in node.inputs)
        if first is None or second is None or first.node is second.node:
            return None
        dtype = first.factor.dtype
        if dtype is None or dtype not in _LARGEST:
            return None
        for one in (first, second):
            if blocked := shared(one.node.outputs[0], node):
                return blocked
            if not 1 / _LARGEST[dtype] <= abs(one.scale) <= _LARGEST[dtype]:
                reason = "A scale is 0, not finite, or so extreme that the order might matter"
                return Declined(reason, (one.node,))
        scale = NewInitializer.of(first.scale * second.scale, "scale", dtype.numpy())
        scaled = NewNode("Mul", [first.factor, scale], name=first.node.name)
        made = NewNode("MatMul", [scaled.output(), second.factor])
        reason = f"Both scales are one: {first.scale:g} times {second.scale:g}."
        matched = [first.node, second.node, node]
        return Replacement(matched, {node.outputs[0]: made.output()}, reason, [scaled, made])


def _scaled(value: ir.Value | None, context: Context) -> _Scaled | None:
    node = producer_of(value, "Mul", "Div")
    if node is None or context.opset() < 7:
        return None
    first, second = node.inputs
    if context.is_constant(first) and node.op_type == "Mul":
        first, second = second, first
    scale, rank = context.scalar(second), context.rank(first)
    width = context.rank(second)
    if first is None or scale is None or rank is None or width is None or width > rank:
        return None
    if node.op_type == "Div":
        with np.errstate(all="ignore"):
            scale = float(np.divide(1.0, scale))
    return _Scaled(node, first, float(scale))
