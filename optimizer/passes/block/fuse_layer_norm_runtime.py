"""Layer normalization in ONNX Runtime, for older models."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from optimizer.passes.block.layer_norm import OPSET, REACH, find_layer_norm
from optimizer.registry import Pass, register, rule
from optimizer.rewrite.context import Context
from optimizer.rewrite.replacement import Outcome


@register
@dataclass(frozen=True)
class FuseLayerNormRuntime(Pass):
    """Fuse LayerNormalization for ONNX Runtime.

    What it does:
        ONNX Runtime has LayerNormalization for models of any opset, ONNX only from opset 17 on.
        Layer normalization spelled out in an older model becomes one node.
    Before:
        (x − mean(x)) / √(mean((x − mean(x))²) + ε) · scale + bias
    After:
        LayerNormalization(x, scale, bias)
    When it is safe:
        The model is to run in ONNX Runtime: by the letter of the standard its operator set does
        not have this operator. The means run over the last axes, whose sizes are known, and scale
        and bias have just those sizes. Nothing else reads the values in between.
    Numerics:
        The same mathematics; the runtime may compute the variance as mean(x²) − mean(x)², which
        rounds worse where the mean is much larger than the deviation.
    Source:
        Ba et al. 2016, Layer normalization; ONNX Runtime, LayerNormFusion.
    """

    id = "fuse-layer-norm-runtime"
    family = "block"
    exactness = "reassociates"
    presets = ("runtime",)
    order = 83

    @rule("Add", "Mul", "Div", name="RuntimeLayerNorm", reach=REACH)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """As in newer models."""
        return find_layer_norm(node, context) if context.opset() < OPSET else None
