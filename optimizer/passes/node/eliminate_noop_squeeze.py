"""Squeeze and Unsqueeze of no axis."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.node.agreement import parameter, shape_of, shown
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, given


@register
class EliminateNoopSqueeze(Pass):
    """Remove Squeeze and Unsqueeze of no axis.

    What it does:
        A Squeeze that finds no axis to remove and an Unsqueeze that adds none go away.
    Before:
        x:3×4 → Squeeze() → Relu
    After:
        x:3×4 → Relu
    When it is safe:
        Unsqueeze: its axes are constant and none. Squeeze: its axes are missing or none, and every
        dimension of the input is a number other than 1, because a Squeeze without axes removes all
        dimensions of size 1. Runtimes read an empty list of axes as a missing one; this holds
        under either reading.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Squeeze and Unsqueeze; ONNX Runtime's reading of empty axes.
    """

    id = "eliminate-noop-squeeze"
    exactness = "exact"
    order = 20

    @rule("Squeeze", name="EmptySqueeze")
    def squeeze(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input that has no axis of size 1."""
        source, shape = node.inputs[0], shape_of(node.inputs[0], context)
        if source is None or shape is None or not _no_axes(node, context) or 1 in shape:
            return None
        free = [dim for dim in shape if not isinstance(dim, int)]
        if free:
            names = ", ".join(shown(dim) for dim in free)
            return Declined(f"an axis may have size 1 and be removed: {names}")
        reason = "No axis of the input has size 1, so none is removed."
        return Replacement([node], {node.outputs[0]: source}, reason)

    @rule("Unsqueeze", name="EmptyUnsqueeze")
    def unsqueeze(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input."""
        source = node.inputs[0]
        if source is None or parameter(node, "axes", 1, context) != []:
            return None
        return Replacement([node], {node.outputs[0]: source}, "No axis is added.")


def _no_axes(node: ir.Node, context: Context) -> bool:
    missing = "axes" not in node.attributes and given(node, 1) is None
    return missing or parameter(node, "axes", 1, context) == []
