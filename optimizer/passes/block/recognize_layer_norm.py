"""Layer normalization spelled out."""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from optimizer.passes.block.layer_norm import OPSET, REACH, find_layer_norm
from optimizer.passes.block.opsets import obstacle
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


@register
class RecognizeLayerNorm(Pass):
    """Recognize LayerNormalization.

    What it does:
        Exporters spell layer normalization out in seven to nine nodes: mean, difference, square,
        mean, ε, root, quotient, scale, bias. They become one LayerNormalization.
    Before:
        (x − mean(x)) / √(mean((x − mean(x))²) + ε) · scale + bias
    After:
        LayerNormalization(x, scale, bias)
    When it is safe:
        LayerNormalization came with opset 17. A model of opset 13 to 16 moves there with the
        first one, since every operator in it means the same in both; an older one stays as it is.
        The means run over the last axes, whose sizes are known, and scale and bias have just
        those sizes. Nothing else reads the values in between.
    Numerics:
        The same mathematics; the runtime may compute the variance as mean(x²) − mean(x)², which
        rounds worse where the mean is much larger than the deviation.
    Source:
        Ba et al. 2016, Layer normalization; ONNX operator specification.
    """

    id = "recognize-layer-norm"
    exactness = "reassociates"
    order = 82

    @rule("Add", "Mul", "Div", name="LayerNorm", reach=REACH)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The longest form that ends here and does not go on further down."""
        found = find_layer_norm(node, context)
        if not isinstance(found, Replacement) or context.opset() >= OPSET:
            return found
        problem = obstacle(node, context)
        if problem is not None:
            reason = f"LayerNormalization needs opset {OPSET}, and {problem}"
            return Declined(reason, tuple(found.matched))
        moved = f"The model now uses opset {OPSET}, in which its operators mean the same."
        reason = f"{found.reason} {moved}"
        return replace(found, reason=reason, opsets={"": OPSET})
