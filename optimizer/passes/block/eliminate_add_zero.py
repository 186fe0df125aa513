"""x + 0 in floating point."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.neutral import adds_positive_zero, keeps_shape, neutral_operand
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


@register
class EliminateAddZero(Pass):
    """Remove the addition of zero.

    What it does:
        Takes out x + 0 and x - (-0) in floating point.
    Before:
        x → Add(0) → Relu
    After:
        x → Relu
    When it is safe:
        The constant does not broadcast x to another shape.
    Numerics:
        Equal numbers; where x is -0 the sum was +0 and becomes -0. No comparison sees that, but
        1/x does.
    Source:
        IEEE 754: -0, not +0, is the neutral element of addition.
    """

    id = "eliminate-add-zero"
    exactness = "reassociates"
    order = 61

    @rule("Add", "Sub", name="AddOfZero")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """An addition that only changes the sign of zero."""
        found = neutral_operand(node, context)
        if found is None or not adds_positive_zero(node, found):
            return None
        if not keeps_shape(node, found, context):
            return Declined("The constant 0 broadcasts the other operand to a new shape.")
        return Replacement([node], {node.outputs[0]: found.kept}, "x + 0 equals x.")
