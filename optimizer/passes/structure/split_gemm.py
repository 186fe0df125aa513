"""Gemm as MatMul and Add."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import Draft, NotHere
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    given,
)


@register
class SplitGemm(Pass):
    """Split Gemm into MatMul and Add.

    What it does:
        A Gemm becomes the product of its factors and the bias added to it, the inverse of
        fuse-matmul-add. A constant factor that it transposes is transposed ahead, a constant bias
        is multiplied by beta; what is computed gets a Transpose, or a Mul. It comes when all
        others are done.
    Before:
        Gemm<transB = 1>(x, w, b)
    After:
        MatMul(x, wᵀ) → Add(b)
    When it is safe:
        The model's opset is 7 or newer. Only floats are scaled.
    Numerics:
        The same mathematics; the product is rounded before the bias is added.
    Source:
        ONNX operator specification, Gemm: Y = αAB + βC.
    """

    id = "split-gemm"
    exactness = "reassociates"
    presets = ()
    order = 60
    last = True

    @rule("Gemm", name="GemmAsMatMul")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """One Gemm."""
        if context.opset() < 7:
            return Declined("Before operator set 7 a bias is broadcast otherwise")
        draft = Draft(context.opset(), node.name or "Gemm")
        try:
            result = _product(node, draft, context)
            bias = _bias(node, draft, context)
        except NotHere as why:
            return Declined(str(why))
        if bias is not None:
            result = draft.new("Add", result, bias)
        reason = "A Gemm is a product to which a bias is added."
        return Replacement([node], {node.outputs[0]: result}, reason, draft.made)


def _product(node: ir.Node, draft: Draft, context: Context) -> Operand:
    factors = [_factor(node, index, draft, context) for index in range(2)]
    made = NewNode("MatMul", factors, name=node.name)
    draft.made.append(made)
    alpha = context.number(node, "alpha")
    if alpha == 1:
        return made.output()
    return draft.new("Mul", made.output(), _scale(alpha, node, draft))


def _factor(node: ir.Node, index: int, draft: Draft, context: Context) -> Operand:
    """One of the two matrices, as MatMul takes it."""
    value = node.inputs[index]
    assert value is not None, "a Gemm has two factors"
    if not context.attribute(node, ("transA", "transB")[index]):
        return value
    array = context.array(value)
    if array is None:
        return draft.new("Transpose", value, perm=[1, 0])
    return draft.weight(array.T)


def _bias(node: ir.Node, draft: Draft, context: Context) -> Operand | None:
    value, beta = given(node, 2), context.number(node, "beta")
    if value is None or beta == 1:
        return value
    array, scale = context.array(value), _scale(beta, node, draft)
    if array is None:
        return draft.new("Mul", value, scale)
    with np.errstate(all="ignore"):
        return draft.weight(array * scale.tensor.numpy())


def _scale(number: float, node: ir.Node, draft: Draft) -> NewInitializer:
    """Alpha or beta in the type of the product.

    Raises:
        NotHere: that holds no fractions.
    """
    value = node.inputs[0]
    if value is None or value.dtype is None or not value.dtype.is_floating_point():
        raise NotHere("It scales what may not be floats")
    return draft.like(number, value)
