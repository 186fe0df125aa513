"""A model of TensorFlow's in the first operator set that has its norms as one operator."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.newer_opset import raised
from optimizer.passes.block.recognize_layer_norm import FACTORED_LAYER_NORM, OLDEST, OPSET
from optimizer.patterns import Found
from optimizer.patterns.search import find
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome


@register
class RaiseOpsetForLayerNorm(Pass):
    """Raise a model with LayerNormalization to opset 17.

    What it does:
        A model of opset 11 or 12 in which layer normalization is spelled out as factor and shift,
        as TensorFlow does and no runtime recognizes, moves to opset 17, which has it as one
        operator. What has another form there is written anew: axes and sizes that were attributes
        are inputs. From opset 13 on, `recognize-layer-norm` moves the model itself.
    Before:
        opset 11: x · factor + shift
    After:
        opset 17: x · factor + shift
    When it is safe:
        All operators of the model mean the same in opset 17, or have a form there that does.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator changelog, versions 11 to 17.
    """

    id = "raise-opset-for-layer-norm"
    exactness = "exact"
    order = 81
    global_analysis = True

    @rule(
        *FACTORED_LAYER_NORM.roots,
        name="LayerNormBeforeOpset",
        reach=FACTORED_LAYER_NORM.reach,
    )
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The first norm of a model."""
        graph = node.graph
        if context.opset() >= OLDEST or not isinstance(graph, ir.Graph):
            return None
        if not isinstance(find(FACTORED_LAYER_NORM, node, context), Found):
            return None
        *_, outermost = context.scopes(graph)
        return raised(node, OPSET, "LayerNormalization", context) if outermost is graph else None
