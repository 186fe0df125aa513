"""Concats of one operand."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class EliminateNoopConcat(Pass):
    """Remove Concat of a single operand.

    What it does:
        A Concat with one operand copies it; its consumers read the operand directly.
    Before:
        x → Concat(axis 1) → Relu
    After:
        x → Relu
    When it is safe:
        There is exactly one operand. The axis does not matter.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Concat.
    """

    id = "eliminate-noop-concat"
    exactness = "exact"
    order = 20

    @rule("Concat", name="SingleConcat")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the only operand."""
        if len(node.inputs) != 1 or node.inputs[0] is None:
            return None
        reason = "A Concat of one operand copies it."
        return Replacement([node], {node.outputs[0]: node.inputs[0]}, reason)
