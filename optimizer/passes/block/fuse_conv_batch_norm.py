"""BatchNormalization after a convolution or a matrix product."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.channels import (
    CONVOLUTIONS,
    PRODUCTS,
    Affine,
    unknown_weights,
    with_outputs_scaled,
)
from optimizer.passes.wording import shared, variable
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, producer_of


@register
class FuseConvBatchNorm(Pass):
    """Fuse BatchNormalization into Conv.

    What it does:
        In inference mode BatchNormalization multiplies each channel by one number and adds
        another. Both go into the weight and bias of the Conv, ConvTranspose, Gemm or MatMul
        before it.
    Before:
        Conv → BatchNormalization
    After:
        Conv
    When it is safe:
        BatchNormalization is in inference mode and normalizes channels. Nothing else reads the
        output of the Conv. Weight, bias and statistics are constants that no caller overrides.
        The new weights are finite in their element type and, in 16 bits, keep their precision.
        Weights shared with other nodes stay as they are: the new Conv gets its own.
    Numerics:
        The same mathematics. New weights are computed in float64 and rounded once; outputs
        differ in the last bits of the element type.
    Source:
        y = scale (Wx + b − mean) / √(variance + ε) + bias; Jacob et al. 2018, section 3.2.
    """

    id = "fuse-conv-batch-norm"
    exactness = "reassociates"
    order = 70

    @rule("BatchNormalization", name="ConvBatchNorm")
    def after_convolution(self, node: ir.Node, context: Context) -> Outcome:
        """Conv or ConvTranspose, then BatchNormalization."""
        conv = producer_of(node.inputs[0], *CONVOLUTIONS)
        return None if conv is None else _fused(node, conv, context)

    @rule("BatchNormalization", name="GemmBatchNorm")
    def after_product(self, node: ir.Node, context: Context) -> Outcome:
        """Gemm or MatMul of matrices, then BatchNormalization over the columns."""
        product = producer_of(node.inputs[0], *PRODUCTS)
        if product is None or context.opset() < 7:
            return None
        sides = (context.symbolic.shape(value) for value in product.inputs[:2] if value is not None)
        if any(side is None or len(side) != 2 for side in sides):
            return None
        return _fused(node, product, context)


def _fused(norm: ir.Node, linear: ir.Node, context: Context) -> Outcome:
    reason = _training(norm, context) or _unknown_statistics(norm, context)
    if reason is not None:
        return Declined(reason)
    blocked = shared(linear.outputs[0], norm) or unknown_weights(linear, context)
    if blocked is not None:
        return blocked
    affine = _affine(norm, context)
    if affine is None:
        return Declined("The statistics do not give finite numbers")
    made = with_outputs_scaled(linear, affine, context)
    if isinstance(made, Declined):
        return made
    what = "BatchNormalization in inference mode is a scale and a shift per channel"
    reason = f"{what}: both go into the weights of {linear.op_type}."
    return Replacement.by(made, reason, linear, norm)


def _training(norm: ir.Node, context: Context) -> str | None:
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


def _unknown_statistics(norm: ir.Node, context: Context) -> str | None:
    for value, role in zip(norm.inputs[1:], ("scale", "bias", "mean", "variance"), strict=False):
        reason = variable(value, role, context)
        if reason is not None:
            return reason
    return None


def _affine(norm: ir.Node, context: Context) -> Affine | None:
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
