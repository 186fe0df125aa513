"""Pads of nothing."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.node.agreement import doubtful_axes, parameter
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


@register
class EliminateNoopPad(Pass):
    """Remove Pad of zero width.

    What it does:
        A Pad that adds no element on any side goes away, whatever its mode.
    Before:
        x → Pad(pads = [0, 0, 0, 0]) → Conv
    After:
        x → Conv
    When it is safe:
        The pads are known and all 0. Equal shapes are not enough: one element more in front
        and one fewer behind shifts the data.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Pad, versions 1 to 24.
    """

    id = "eliminate-noop-pad"
    exactness = "exact"
    order = 20

    @rule("Pad", name="ZeroPad")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None:
            return None
        old = "paddings" if "paddings" in node.attributes else "pads"  # opset 1
        pads = parameter(node, old, 1, context)
        if pads is not None and not any(pads):
            return Replacement([node], {output: source}, "All pads are 0.")
        if doubtful_axes(source, output, context) != []:
            return None
        if pads is None:
            return Declined("the shape stays the same, but the pads are not known")
        return Declined("the shape stays the same, but the pads shift the data")
