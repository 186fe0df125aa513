"""Splits into one part."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class EliminateNoopSplit(Pass):
    """Remove Split into a single part.

    What it does:
        A Split with one output copies its input; its consumers read the input directly.
    Before:
        x → Split(1 part) → Relu
    After:
        x → Relu
    When it is safe:
        There is exactly one output. The sizes of the parts add up to the size of the axis, so the
        only part is the whole. A Split of which only one of several outputs is used stays.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Split.
    """

    id = "eliminate-noop-split"
    exactness = "exact"
    order = 20

    @rule("Split", name="SingleSplit")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the only output by the input."""
        source = node.inputs[0]
        if source is None or len(node.outputs) != 1:
            return None
        return Replacement([node], {node.outputs[0]: source}, "The only part is the whole.")
