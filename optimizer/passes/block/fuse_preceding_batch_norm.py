"""BatchNormalization before a matrix product or another BatchNormalization."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.batch_norms import affine_of, not_inferring
from optimizer.passes.block.channels import PRODUCTS, unknown_weights, with_inputs_affine
from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    producer_of,
)


@register
class FusePrecedingBatchNorm(Pass):
    """Fuse BatchNormalization into what follows.

    What it does:
        In inference mode BatchNormalization multiplies each channel by one number and adds
        another. Both go into the weight and bias of the Gemm or MatMul of matrices after it, or
        into scale and bias of another BatchNormalization.
    Before:
        BatchNormalization → MatMul
    After:
        Gemm
    When it is safe:
        BatchNormalization is in inference mode and normalizes the columns of a matrix, or the
        channels that the second one normalizes. Nothing else reads its output. Weight, bias and
        statistics are constants that no caller overrides, and the new ones are finite in their
        element type. A convolution is left alone: what it pads with is not shifted.
    Numerics:
        The same mathematics. New weights are computed in float64 and rounded once; outputs
        differ in the last bits of the element type.
    Source:
        W (s x + t) + b = (W s) x + (W t + b); onnxscript, FuseBatchNormIntoGemm, for the other
        order.
    """

    id = "fuse-preceding-batch-norm"
    exactness = "reassociates"
    order = 71

    @rule(*PRODUCTS, name="BatchNormProduct")
    def before_product(self, node: ir.Node, context: Context) -> Outcome:
        """BatchNormalization of columns, then Gemm or MatMul."""
        norm = producer_of(node.inputs[0], "BatchNormalization")
        if norm is None or context.rank(node.inputs[0]) != 2 or context.rank(node.inputs[1]) != 2:
            return None
        if context.opset() < 7:
            return None
        if context.attribute(node, "transA"):
            return Declined("Gemm reads what is normalized transposed", (norm,))
        blocked = _blocked(norm, node, context) or unknown_weights(node, context)
        affine = affine_of(norm, context) if blocked is None else None
        if affine is None:
            return blocked or Declined("The statistics do not give finite numbers", (norm,))
        made = with_inputs_affine(node, norm.inputs[0], affine, context)
        if isinstance(made, Declined):
            return made
        what = "BatchNormalization in inference mode is a scale and a shift per column"
        return Replacement.by(made, f"{what}: both go into the weights of the product.", norm, node)

    @rule("BatchNormalization", name="BatchNormOfBatchNorm")
    def before_another(self, node: ir.Node, context: Context) -> Outcome:
        """Two BatchNormalizations."""
        first = producer_of(node.inputs[0], "BatchNormalization")
        if first is None:
            return None
        blocked = not_inferring(node, context) or _blocked(first, node, context)
        affine = affine_of(node, context) if blocked is None else None
        if affine is None:
            return blocked or Declined("The statistics do not give finite numbers")
        scale, bias = (context.array(value) for value in first.inputs[1:3])
        assert scale is not None, "the statistics are constant"
        assert bias is not None, "the statistics are constant"
        with np.errstate(all="ignore"):  # s2 (s1 z + b1) + t2 = (s2 s1) z + (s2 b1 + t2)
            exact = (
                scale.astype(np.float64) * affine.scale,
                bias.astype(np.float64) * affine.scale + affine.shift,
            )
            made = [one.astype(old.dtype) for one, old in zip(exact, (scale, bias), strict=True)]
        if not all(np.isfinite(one.astype(np.float64)).all() for one in made):
            return Declined(f"The folded scale and bias do not fit {scale.dtype}", (first,))
        named = zip(made, first.inputs[1:3], ("scale", "bias"), strict=True)
        new = [
            NewInitializer.of(data, value.name or hint if value else hint)
            for data, value, hint in named
        ]
        inputs = [first.inputs[0], *new, *first.inputs[3:]]
        one = NewNode("BatchNormalization", inputs, first.attributes, name=first.name)
        reason = "Both are a scale and a shift per channel: together they are one."
        return Replacement.by(one, reason, first, node)


def _blocked(norm: ir.Node, reader: ir.Node, context: Context) -> Declined | None:
    """Why a BatchNormalization stays before its reader."""
    unknown = not_inferring(norm, context)
    return shared(norm.outputs[0], reader) if unknown is None else replace(unknown, nodes=(norm,))
