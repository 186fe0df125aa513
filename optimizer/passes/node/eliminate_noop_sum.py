"""Sum, Mean, Max and Min of one operand."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class EliminateNoopSum(Pass):
    """Remove Sum, Mean, Max and Min of one operand.

    What it does:
        A Sum, Mean, Max or Min with one operand copies it; its consumers read the operand.
    Before:
        x → Sum → Relu
    After:
        x → Relu
    When it is safe:
        There is exactly one operand, counting operands and not distinct values: Sum(x, x) is 2x.
    Numerics:
        Bit-identical: nothing is added, compared or, in a Mean, divided by other than 1.
    Source:
        ONNX operator specification, Sum, Mean, Max and Min.
    """

    id = "eliminate-noop-sum"
    exactness = "exact"
    order = 20

    @rule("Sum", "Mean", "Max", "Min", name="SingleOperand")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the only operand."""
        if len(node.inputs) != 1 or node.inputs[0] is None:
            return None
        reason = f"A {node.op_type} of one operand copies it."
        return Replacement([node], {node.outputs[0]: node.inputs[0]}, reason)
