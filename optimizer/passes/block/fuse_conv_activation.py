"""Activation after a convolution, in ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from optimizer.passes.block.activations import clip_bounds, unfusable
from optimizer.passes.block.attributes import number
from optimizer.passes.block.channels import linear_before
from optimizer.registry import Pass, register, rule
from optimizer.rewrite.context import Context
from optimizer.rewrite.replacement import Declined, NewNode, Outcome, Replacement

_PARAMETERS = {
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
}


@register
@dataclass(frozen=True)
class FuseConvActivation(Pass):
    """Fuse an activation into Conv.

    What it does:
        Conv and the Relu, Clip, LeakyRelu, Sigmoid, Tanh or HardSigmoid after it become ONNX
        Runtime's FusedConv, which applies the activation while the result is still in cache.
    Before:
        Conv → Relu
    After:
        com.microsoft.FusedConv(Relu)
    When it is safe:
        The model is to run in ONNX Runtime, with float32. On its CUDA provider FusedConv knows
        Relu only. Nothing else reads the Conv output. The bounds of Clip are constant. The Conv
        does not read dequantized values: ONNX Runtime turns that into an integer Conv.
    Numerics:
        The same mathematics; Sigmoid and Tanh may be computed by another approximation.
    Source:
        ONNX Runtime contrib operators, FusedConv; ConvActivationFusion.
    """

    id = "fuse-conv-activation"
    family = "block"
    exactness = "reassociates"
    presets = ("runtime",)
    order = 90

    @rule(*_PARAMETERS, "Clip", name="ConvActivation")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then the activation."""
        conv = linear_before(node.inputs[0], ("Conv",))
        if conv is None:
            return None
        blocked = unfusable(conv, node)
        if blocked is not None:
            return blocked
        if node.op_type == "Clip":
            parameters = clip_bounds(node, context)
            if isinstance(parameters, str):
                return Declined(parameters, (conv,))
        else:
            parameters = [number(node, name, context) for name in _PARAMETERS[node.op_type]]
        attributes = {
            **conv.attributes,
            "activation": node.op_type,
            "activation_params": [*parameters] or None,
        }
        made = NewNode("FusedConv", conv.inputs, attributes, domain="com.microsoft", name=conv.name)
        reason = f"ONNX Runtime's FusedConv applies {node.op_type} to its own output."
        return Replacement([conv, node], {node.outputs[0]: made.output()}, reason, [made])
