"""A model with attention in the first operator set that has it as one operator."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.attention_pattern import ATTENTION
from optimizer.passes.block.newer_opset import raised
from optimizer.passes.block.recognize_attention import OPSET
from optimizer.patterns import Found
from optimizer.patterns.search import find
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome


@register
class RaiseOpsetForAttention(Pass):
    """Raise a model with attention to opset 23.

    What it does:
        A model of opset 11 to 22 in which attention is spelled out moves to opset 23, which has it
        as one operator. What has another form there is written anew: axes and sizes that were
        attributes are inputs.
    Before:
        opset 17: softmax(q · kᵀ · scale) · v
    After:
        opset 23: softmax(q · kᵀ · scale) · v
    When it is safe:
        The model is to run in a runtime of 2025 or later, such as ONNX Runtime 1.23. All its
        operators mean the same in opset 23, or have a form there that does, and ONNX Runtime has
        kernels for them there: in 1.31 it has none for random numbers and RoiAlign.
    Numerics:
        Bit-identical, but for AveragePool across opset 19: ONNX Runtime has another kernel for it
        from there on, which adds in another order.
    Source:
        ONNX operator changelog, versions 11 to 23.
    """

    id = "raise-opset-for-attention"
    exactness = "reassociates"
    presets = ("cpu", "cuda")
    order = 83
    global_analysis = True

    @rule(*ATTENTION.roots, name="AttentionBeforeOpset", reach=ATTENTION.reach)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The first attention of a model; what nearly is one, the pass that makes it one tells."""
        graph = node.graph
        if context.opset() >= OPSET or not isinstance(graph, ir.Graph):
            return None
        if not isinstance(find(ATTENTION, node, context), Found):
            return None
        *_, outermost = context.scopes(graph)
        return raised(node, OPSET, "Attention", context) if outermost is graph else None
