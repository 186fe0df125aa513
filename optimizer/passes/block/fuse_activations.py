"""Activations after a convolution or a matrix product, as ONNX Runtime's operators take them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement, given, producer_of

_LARGEST = float(np.finfo(np.float32).max)
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
"""Attributes of each activation that ONNX Runtime's fused operators take along."""


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
    presets = ("cpu", "cuda", "generated")
    order = 90

    @rule("Relu", name="ConvRelu")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then Relu."""
        conv = producer_of(node.inputs[0], "Conv")
        if conv is None:
            return None
        return _fused(conv, node, {})


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
    presets = ("cpu", "generated")
    order = 91

    @rule("Clip", name="ConvClip")
    def clip(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then Clip."""
        conv = producer_of(node.inputs[0], "Conv")
        if conv is None:
            return None
        bounds = _clip_bounds(node, context)
        if isinstance(bounds, str):
            return Declined(bounds, (conv,))
        return _fused(conv, node, {"activation_params": bounds})

    @rule("HardSigmoid", "LeakyRelu", "Sigmoid", "Tanh", name="ConvActivation")
    def other(self, node: ir.Node, context: Context) -> Outcome:
        """Conv, then a function with fixed parameters."""
        conv = producer_of(node.inputs[0], "Conv")
        if conv is None:
            return None
        parameters = [context.number(node, name) for name in _PARAMETERS[node.op_type]]
        return _fused(conv, node, {"activation_params": parameters or None})


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
    presets = ("cpu", "generated")
    order = 92

    @rule(*_PARAMETERS, name="GemmActivation")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Gemm, then the activation."""
        gemm = producer_of(node.inputs[0], "Gemm")
        if gemm is None or context.opset() < 7:
            return None
        names = _PARAMETERS[node.op_type]
        wanted = {f"activation_{name}": context.number(node, name) for name in names}
        return _fused(gemm, node, wanted)


def _clip_bounds(clip: ir.Node, context: Context) -> list[float] | str:
    """The bounds of a Clip, the largest numbers where there are none; or why they are unknown."""
    if context.opset() < 11:
        attributes = [context.attribute(clip, "min"), context.attribute(clip, "max")]
        bounds = [value if isinstance(value, float) else None for value in attributes]
    else:
        bounds: list[float | None] = []
        for index in (1, 2):
            value = given(clip, index)
            bound = context.scalar(value)
            if value is not None and bound is None:
                return "The bounds of Clip are not constant"
            bounds.append(None if bound is None else float(bound))
    low = -_LARGEST if bounds[0] is None else bounds[0]
    high = _LARGEST if bounds[1] is None else bounds[1]
    return [low, high] if low <= high else "The bounds of Clip are the wrong way round"


def _unfusable(linear: ir.Node, activation: ir.Node) -> Declined | None:
    """Why ONNX Runtime's fused operator cannot take the place of these two; None when it can."""
    if _type_of(linear) != ir.DataType.FLOAT:
        return Declined(f"Fused{linear.op_type} computes in float32 only", (linear,))
    if any(producer_of(value, "DequantizeLinear") for value in linear.inputs[:2]):
        reason = f"{linear.op_type} is quantized: ONNX Runtime computes it in integers as it stands"
        return Declined(reason, (linear,))
    return shared(linear.outputs[0], activation)


def _type_of(linear: ir.Node) -> ir.DataType | None:
    """The type of the result; the weight's, where the input's is not known."""
    weight, made = linear.inputs[1], linear.outputs[0].dtype
    return made if made is not None or weight is None else weight.dtype


def _fused(linear: ir.Node, activation: ir.Node, parameters: Mapping[str, object]) -> Outcome:
    """Both as ONNX Runtime's fused operator."""
    if (blocked := _unfusable(linear, activation)) is not None:
        return blocked
    operator = f"Fused{linear.op_type}"
    attributes = {**linear.attributes, "activation": activation.op_type, **parameters}
    made = NewNode(operator, linear.inputs, attributes, domain="com.microsoft", name=linear.name)
    reason = f"ONNX Runtime's {operator} applies {activation.op_type} to its own output."
    return Replacement.by(made, reason, linear, activation)
