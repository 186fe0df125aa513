"""Relu after a convolution, in ONNX Runtime."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.activations import fused_conv, unfusable
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, producer_of


@register
class FuseConvActivation(Pass):
    """Fuse Relu into Conv.

    What it does:
        Conv and the Relu after it become ONNX Runtime's FusedConv, which applies the activation
        while the result is still in cache.
    Before:
        Conv → Relu
    After:
        com.microsoft.FusedConv(Relu)
    When it is safe:
        The model is to run in ONNX Runtime, on the CPU or with CUDA, in float32. Nothing else
        reads the Conv output. The Conv does not read dequantized values: ONNX Runtime turns that
        into an integer Conv.
    Numerics:
        The same mathematics; the runtime may choose another kernel for the convolution.
    Source:
        ONNX Runtime contrib operators, FusedConv; ConvActivationFusion.
    """

    id = "fuse-conv-activation"
    exactness = "reassociates"
    presets = ("runtime",)
    order = 90

    @rule("Relu", name="ConvRelu")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then Relu."""
        conv = producer_of(node.inputs[0], "Conv")
        if conv is None:
            return None
        return unfusable(conv, node) or fused_conv(conv, node, ())
