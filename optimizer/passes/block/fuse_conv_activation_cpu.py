"""Other activations after a convolution, in ONNX Runtime on the CPU."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.activations import clip_bounds, fused_conv, unfusable
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, producer_of

_PARAMETERS = {"HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",), "Sigmoid": (), "Tanh": ()}


@register
class FuseConvActivationCpu(Pass):
    """Fuse Clip, LeakyRelu, Sigmoid and Tanh into Conv.

    What it does:
        Conv and the Clip, LeakyRelu, Sigmoid, Tanh or HardSigmoid after it become ONNX Runtime's
        FusedConv, which applies the activation while the result is still in cache.
    Before:
        Conv → Clip(0, 6)
    After:
        com.microsoft.FusedConv(Clip)
    When it is safe:
        The model is to run in ONNX Runtime on the CPU, in float32: with CUDA no session can be
        made of a model with these. Nothing else reads the Conv output. The bounds of Clip are
        constant. The Conv does not read dequantized values: ONNX Runtime turns that into an
        integer Conv.
    Numerics:
        The same mathematics; Sigmoid and Tanh may be computed by another approximation.
    Source:
        ONNX Runtime contrib operators, FusedConv; ConvActivationFusion.
    """

    id = "fuse-conv-activation-cpu"
    exactness = "reassociates"
    presets = ("runtime",)
    order = 91

    @rule("Clip", name="ConvClip")
    def clip(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then Clip."""
        conv = producer_of(node.inputs[0], "Conv")
        if conv is None:
            return None
        bounds = clip_bounds(node, context)
        if isinstance(bounds, str):
            return Declined(bounds, (conv,))
        return unfusable(conv, node) or fused_conv(conv, node, bounds)

    @rule(*_PARAMETERS, name="ConvActivation")
    def other(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then a function with fixed parameters."""
        conv = producer_of(node.inputs[0], "Conv")
        if conv is None:
            return None
        parameters = [context.number(node, name) for name in _PARAMETERS[node.op_type]]
        return unfusable(conv, node) or fused_conv(conv, node, parameters)
