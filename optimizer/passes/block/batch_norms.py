"""BatchNormalization in inference mode, as a scale and a shift per channel."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.channels import Affine
from optimizer.passes.wording import variable
from optimizer.rules import Context, Declined


def not_inferring(norm: ir.Node, context: Context) -> Declined | None:
    """Why a node is no such scale and shift: it trains, or is not constant; None where it is."""
    why = training(norm, context)
    return _unknown_statistics(norm, context) if why is None else Declined(why)


def training(norm: ir.Node, context: Context) -> str | None:
    """Why the node may compute its statistics from the batch; None in inference mode."""
    opset = context.opset()
    if opset >= 14:
        mode = context.attribute(norm, "training_mode")
        return "BatchNormalization is in training mode" if mode else None
    if opset < 7 and not context.attribute(norm, "is_test"):
        return "BatchNormalization is in training mode (is_test = 0)"
    if opset < 9 and context.attribute(norm, "spatial") == 0:
        return "BatchNormalization normalizes every position by itself (spatial = 0)"
    extra = sum(bool(output.name) for output in norm.outputs[1:])
    if extra:
        return f"BatchNormalization with {extra + 1} outputs is in training mode before opset 14"
    return None


def _unknown_statistics(norm: ir.Node, context: Context) -> Declined | None:
    roles = zip(norm.inputs[1:], ("scale", "bias", "mean", "variance"), strict=False)
    unknown = (variable(value, role, context) for value, role in roles)
    return next((one for one in unknown if one is not None), None)


def affine_of(norm: ir.Node, context: Context) -> Affine | None:
    """The scale and shift of each channel; None where they are not finite."""
    arrays = [context.array(value) for value in norm.inputs[1:5]]
    known = [array.astype(np.float64) for array in arrays if array is not None]
    epsilon = context.attribute(norm, "epsilon")
    if len(known) != 4 or not isinstance(epsilon, float):
        return None
    gamma, beta, mean, variance = known
    with np.errstate(all="ignore"):
        scale = gamma / np.sqrt(variance + epsilon)
        shift = beta - mean * scale
    if not np.isfinite(scale).all() or not np.isfinite(shift).all():
        return None
    bias = norm.inputs[2]
    return Affine(scale, shift, bias.name or "bias" if bias is not None else "bias")
