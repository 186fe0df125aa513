"""BatchNormalization after a convolution or a matrix product."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.batch_norms import affine_of, not_inferring
from optimizer.passes.block.channels import (
    CONVOLUTIONS,
    PRODUCTS,
    unknown_weights,
    with_outputs_scaled,
)
from optimizer.passes.wording import shared
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
    blocked = (
        not_inferring(norm, context)
        or shared(linear.outputs[0], norm)
        or unknown_weights(linear, context)
    )
    if blocked is not None:
        return blocked
    affine = affine_of(norm, context)
    if affine is None:
        return Declined("The statistics do not give finite numbers")
    made = with_outputs_scaled(linear, affine, context)
    if isinstance(made, Declined):
        return made
    what = "BatchNormalization in inference mode is a scale and a shift per channel"
    reason = f"{what}: both go into the weights of {linear.op_type}."
    return Replacement.by(made, reason, linear, norm)
