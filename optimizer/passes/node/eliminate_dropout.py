"""Dropout at inference."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, given


@register
class EliminateDropout(Pass):
    """Remove Dropout at inference.

    What it does:
        A Dropout that drops nothing copies its data; its consumers read the data directly.
    Before:
        x → Dropout(ratio 0.1) → MatMul
    After:
        x → MatMul
    When it is safe:
        The node does not train: before opset 12, opset 7 and later never do and older ones say
        `is_test`; from opset 12 on, `training_mode` is missing or a constant false, or `ratio` is
        a constant 0. Nothing reads the mask, its second output.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Dropout, versions 1 to 22.
    """

    id = "eliminate-dropout"
    exactness = "exact"
    order = 10

    @rule("Dropout", name="InferenceDropout")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the data output by the data."""
        source = node.inputs[0] if node.inputs else None
        if source is None:
            return None
        why, inactive = _inactive(node, context)
        if not inactive:
            return Declined(why) if why else None
        if len(node.outputs) > 1 and (node.outputs[1].uses() or node.outputs[1].is_graph_output()):
            return Declined("the mask, its second output, is used")
        return Replacement([node], {node.outputs[0]: source}, why)


def _inactive(node: ir.Node, context: Context) -> tuple[str, bool]:
    """Whether the node drops nothing, and the sentence that says why or why not."""
    if context.opset() < 7:
        if context.attribute(node, "is_test"):
            return "The node says is_test: it copies its input.", True
        return "the node does not say is_test, so it trains", False
    if context.opset() < 12:
        return "Before opset 12 Dropout is for inference only: it copies its input.", True
    ratio, mode = given(node, 1), given(node, 2)
    if mode is None:
        return "Without training_mode Dropout copies its input.", True
    if ratio is not None and context.scalar(ratio) == 0:
        return "With ratio 0 Dropout copies its input.", True
    if not context.is_constant(mode):
        return "training_mode is not a constant", False
    if context.scalar(mode) == 0:
        return "With training_mode false Dropout copies its input.", True
    return "training_mode is true, so elements are dropped at random", False
