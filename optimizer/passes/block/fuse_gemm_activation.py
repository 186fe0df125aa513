"""Activation after a matrix product, in ONNX Runtime."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.activations import unfusable
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewNode, Outcome, Replacement, producer_of

_PARAMETERS = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Selu": ("alpha", "gamma"),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
    "ThresholdedRelu": ("alpha",),
}


@register
class FuseGemmActivation(Pass):
    """Fuse an activation into Gemm.

    What it does:
        Gemm and the activation after it become ONNX Runtime's FusedGemm. With MatMul and Add
        fused into Gemm before, MatMul → Add → Relu is one node.
    Before:
        Gemm → Relu
    After:
        com.microsoft.FusedGemm(Relu)
    When it is safe:
        The model is to run in ONNX Runtime on the CPU, in float32: with CUDA, FusedGemm still
        runs on the CPU. Nothing else reads
        the Gemm output. The Gemm does not read dequantized values: ONNX Runtime turns that into
        an integer product.
    Numerics:
        The same mathematics; Sigmoid and Tanh may be computed by another approximation.
    Source:
        ONNX Runtime contrib operators, FusedGemm; GemmActivationFusion.
    """

    id = "fuse-gemm-activation"
    exactness = "reassociates"
    presets = ("runtime",)
    order = 92

    @rule(*_PARAMETERS, name="GemmActivation")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Gemm, then the activation."""
        gemm = producer_of(node.inputs[0], "Gemm")
        if gemm is None or context.opset() < 7:
            return None
        blocked = unfusable(gemm, node)
        if blocked is not None:
            return blocked
        attributes: dict[str, object] = {**gemm.attributes, "activation": node.op_type}
        for name in _PARAMETERS[node.op_type]:
            attributes[f"activation_{name}"] = context.number(node, name)
        made = NewNode("FusedGemm", gemm.inputs, attributes, domain="com.microsoft", name=gemm.name)
        reason = f"ONNX Runtime's FusedGemm applies {node.op_type} to its own output."
        return Replacement.by(made, reason, gemm, node)
