"""Scale and shift around a matrix product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.channels import (
    PRODUCTS,
    unknown_weights,
    with_columns_scaled,
    with_rows_scaled,
)
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


@dataclass(frozen=True, slots=True)
class _Spelled:
    """How a function whose last factor is a constant is told when it is spelled out.

    Attributes:
        title: its name.
        ends: operators of which it has one.
        through: those between that and the factor.
    """

    title: str
    ends: tuple[str, ...]
    through: tuple[str, ...]


_GELU = _Spelled("Gelu", ("Erf", "Tanh"), ("Add", "Mul"))
_NORM = _Spelled("normalization", ("Sqrt",), ("Div", "Mul", "Reciprocal"))


@register
class FuseProductScale(Pass):
    """Fuse a scale into MatMul or Gemm.

    What it does:
        A Mul or Div by a constant number, or by one per column, after a MatMul or Gemm goes into
        its constant weight and into its bias, also where the bias is an Add between them; a Mul
        or Div before it goes into the rows of the weight.
    Before:
        MatMul(x, w) → Add(b) → Div(8)
    After:
        MatMul(x, w / 8) → Add(b / 8)
    When it is safe:
        The constant varies along the last axis alone and does not broadcast what it meets to
        another shape. Weight and bias are constants that no caller overrides, and the weight is
        not read elsewhere: it would be stored twice. Nothing else reads the value in between.
        The new weight is finite and, in 16 bits, keeps its precision. The half of a Gelu and the
        scale of a normalization stay where runtimes look for them.
    Numerics:
        The same mathematics. New weights are computed in float64 and rounded once; outputs
        differ in the last bits of the element type.
    Source:
        s (xW + b) = x (sW) + sb; (xs) W = x (sW).
    """

    id = "fuse-product-scale"
    exactness = "reassociates"
    order = 73

    @rule("Mul", "Div", name="ProductScale", reach=3)
    def after(self, node: ir.Node, context: Context) -> Outcome:
        """A product, then the constant."""
        found = _scaling(node, context)
        if found is None:
            return None
        value, scale = found
        bias = producer_of(value, "Add")
        if bias is None:
            product = producer_of(value, *PRODUCTS)
            if product is None or _of_two_computed(product, context):
                return None
            return _scaled(product, node, scale, context)
        for place in (0, 1):
            product = producer_of(bias.inputs[place], "MatMul")
            known = context.is_constant(bias.inputs[1 - place])
            if product is not None and known and not _of_two_computed(product, context):
                return _with_bias(product, bias, (node, scale), context)
        return None

    @rule(*PRODUCTS, name="ScaleProduct", reach=2)
    def before(self, node: ir.Node, context: Context) -> Outcome:
        """The constant, then a product."""
        above = producer_of(node.inputs[0], "Mul", "Div")
        found = None if above is None else _scaling(above, context)
        if above is None or found is None or _of_two_computed(node, context):
            return None
        if context.attribute(node, "transA"):
            return None
        part = _NORM if found[1].size > 1 else _GELU
        if _within(part, found[0]):
            return Declined(
                f"The factor is part of a {part.title}, which runtimes look for", (above,)
            )
        blocked = shared(above.outputs[0], node) or _weights(node, context)
        if blocked is not None:
            return blocked
        made = with_rows_scaled(node, found[1], context)
        if isinstance(made, Declined):
            return made
        made = NewNode(made.op_type, [found[0], *made.inputs[1:]], made.attributes, name=node.name)
        reason = f"{above.op_type} scales the columns of the first factor: that goes into the rows."
        return Replacement.by(made, reason, above, node)


def _scaling(node: ir.Node, context: Context) -> tuple[ir.Value, np.ndarray] | None:
    """What a Mul or Div by a constant scales, and float64[columns] or [1] that it is scaled by."""
    if context.opset() < 7:
        return None
    place = 1 if context.is_constant(node.inputs[0]) else 0
    value, constant = node.inputs[place], node.inputs[1 - place]
    data, rank = context.array(constant), context.rank(value)
    if value is None or data is None or data.dtype.kind != "f" or not rank:
        return None
    if (node.op_type == "Div" and place == 1) or not context.same_shape(value, node.outputs[0]):
        return None
    if data.ndim > rank or data.size not in (1, data.shape[-1] if data.ndim else 1):
        return None
    scale = data.astype(np.float64).reshape(-1)
    if not np.isfinite(scale).all() or (node.op_type == "Div" and not scale.all()):
        return None
    return value, 1.0 / scale if node.op_type == "Div" else scale


def _within(part: _Spelled, value: ir.Value | None, depth: int = 3) -> bool:
    """Whether a value is computed by what a known function is spelled with."""
    node = producer_of(value, *part.through, *part.ends)
    if node is None or depth == 0:
        return False
    return node.op_type in part.ends or any(_within(part, v, depth - 1) for v in node.inputs)


def _of_two_computed(product: ir.Node, context: Context) -> bool:
    """Whether a product has no weight, as that of queries and keys."""
    weight = product.inputs[1]
    return not context.is_constant(weight) and weight is not None and weight.producer() is not None


def _weights(product: ir.Node, context: Context) -> Declined | None:
    """Why the weight of a product may not be made anew; None where it may."""
    weight = product.inputs[1]
    blocked = unknown_weights(product, context)
    if blocked is None and weight is not None and len(weight.uses()) > 1:
        return Declined("The weight is read elsewhere, too", (product,))
    return blocked


def _scaled(product: ir.Node, node: ir.Node, scale: np.ndarray, context: Context) -> Outcome:
    blocked = shared(product.outputs[0], node) or _weights(product, context)
    made = blocked or with_columns_scaled(product, scale, context)
    if isinstance(made, Declined):
        return made
    reason = f"{node.op_type} scales each column: that goes into the weight of {product.op_type}."
    return Replacement.by(made, reason, product, node)


def _with_bias(
    product: ir.Node, bias: ir.Node, scaling: tuple[ir.Node, np.ndarray], context: Context
) -> Outcome:
    """A product whose bias an Add brings, which is scaled, too."""
    node, scale = scaling
    place = 1 if bias.inputs[0] is product.outputs[0] else 0
    constant = bias.inputs[place]
    data = context.array(constant)
    if (
        data is None
        or constant is None
        or not context.same_shape(product.outputs[0], bias.outputs[0])
    ):
        return None
    blocked = shared(product.outputs[0], bias) or shared(bias.outputs[0], node)
    made = blocked or _weights(product, context) or with_columns_scaled(product, scale, context)
    if isinstance(made, Declined):
        return made
    with np.errstate(all="ignore"):
        total = (data.astype(np.float64) * scale).astype(data.dtype)
    if total.size > max(data.size, scale.size) or not np.isfinite(total).all():
        return Declined("The scaled bias is larger, or does not fit its type", (bias,))
    shift = NewInitializer.of(total, constant.name or "bias")
    end = NewNode("Add", [made.output(), shift], name=bias.name)
    reason = f"{node.op_type} scales each column: that goes into the weight and into the bias."
    values = {node.outputs[0]: end.output()}
    return Replacement([product, bias, node], values, reason, nodes=[made, end])
