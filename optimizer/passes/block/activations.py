"""Activation functions as ONNX Runtime's fused operators take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import shared
from optimizer.rules import Context, Declined, NewNode, Replacement, given, producer_of

LARGEST = float(np.finfo(np.float32).max)


def clip_bounds(clip: ir.Node, context: Context) -> tuple[float, float] | str:
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
    low = -LARGEST if bounds[0] is None else bounds[0]
    high = LARGEST if bounds[1] is None else bounds[1]
    return (low, high) if low <= high else "The bounds of Clip are the wrong way round"


def unfusable(linear: ir.Node, activation: ir.Node) -> Declined | None:
    """Why ONNX Runtime's fused operator cannot take the place of these two; None when it can."""
    if linear.outputs[0].dtype != ir.DataType.FLOAT:
        return Declined(f"Fused{linear.op_type} computes in float32 only", (linear,))
    if any(producer_of(value, "DequantizeLinear") for value in linear.inputs[:2]):
        reason = f"{linear.op_type} is quantized: ONNX Runtime computes it in integers as it stands"
        return Declined(reason, (linear,))
    return shared(linear.outputs[0], activation)


def fused_conv(conv: ir.Node, activation: ir.Node, parameters: Sequence[float]) -> Replacement:
    """Both as ONNX Runtime's FusedConv."""
    attributes = {
        **conv.attributes,
        "activation": activation.op_type,
        "activation_params": [*parameters] or None,
    }
    made = NewNode("FusedConv", conv.inputs, attributes, domain="com.microsoft", name=conv.name)
    reason = f"ONNX Runtime's FusedConv applies {activation.op_type} to its own output."
    return Replacement.by(made, reason, conv, activation)
