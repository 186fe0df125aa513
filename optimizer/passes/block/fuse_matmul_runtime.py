"""Transposes and scales around a matrix product."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import onnx_ir as ir

from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewNode,
    Outcome,
    Replacement,
    producer_of,
    transposition,
)

_MICROSOFT, _FUSED = "com.microsoft", "FusedMatMul"
_MOST_AROUND = 3


@dataclass(frozen=True, slots=True)
class _Operand:
    """What a product reads, what it is turned and scaled by, and the nodes that did it."""

    value: ir.Value
    transposed: bool = False
    scale: float = 1.0
    nodes: tuple[ir.Node, ...] = ()


@register
class FuseMatmulRuntime(Pass):
    """Fuse Transpose and scale into MatMul for ONNX Runtime.

    What it does:
        A Transpose of the last two axes before a MatMul, and a Mul or Div by one number before or
        after it, become attributes of ONNX Runtime's FusedMatMul. It runs when all other passes
        are done: they know MatMul.
    Before:
        MatMul(q, Transpose(k)) → Div(8)
    After:
        com.microsoft.FusedMatMul(q, k, transB=1, alpha=0.125)
    When it is safe:
        The model is to run in ONNX Runtime, in float32. Nothing else reads the values in between.
        The number is constant and finite, and so is its inverse where it divides.
    Numerics:
        The product is scaled where its operand or its result was: rounded differently.
    Source:
        ONNX Runtime contrib operators, FusedMatMul; MatmulTransposeFusion and MatMulScaleFusion.
    """

    id = "fuse-matmul-runtime"
    exactness = "reassociates"
    presets = ("cpu", "cuda")
    order = 95
    last = True

    @rule("MatMul", name="MatMulOperands", reach=1 + _MOST_AROUND)
    def operands(self, node: ir.Node, context: Context) -> Outcome:
        """What stands before a MatMul."""
        first, second = (_around(value, node, context) for value in node.inputs)
        if first is None or second is None or node.outputs[0].dtype != ir.DataType.FLOAT:
            return None
        if not first.nodes and not second.nodes:
            return None
        attributes = {
            "alpha": first.scale * second.scale,
            "transA": int(first.transposed),
            "transB": int(second.transposed),
        }
        made = _product(first.value, second.value, attributes, node)
        reason = f"ONNX Runtime's {_FUSED} transposes and scales what it reads."
        return Replacement.by(made, reason, *first.nodes, *second.nodes, node)

    @rule("Div", "Mul", name="ScaledMatMul", reach=2)
    def result(self, node: ir.Node, context: Context) -> Outcome:
        """A number that the product is scaled by."""
        scaled = _scaled(node, context)
        if scaled is None:
            return None
        value, scale = scaled
        product = producer_of(value, "MatMul") or _fused(value)
        if product is None or product.outputs[0].dtype != ir.DataType.FLOAT:
            return None
        if blocked := shared(product.outputs[0], node):
            return blocked
        if not _usable(scale):
            return Declined(
                f"The scale has no finite inverse or is not finite: {scale}", (product,)
            )
        first, second = product.inputs
        if first is None or second is None:
            return None
        before = product.attributes.get_float("alpha", 1.0)
        attributes = {**product.attributes, "alpha": before * scale}
        made = _product(first, second, attributes, product)
        return Replacement.by(made, f"ONNX Runtime's {_FUSED} scales its result.", product, node)


def _product(
    first: ir.Value, second: ir.Value, attributes: Mapping[str, object], named: ir.Node
) -> NewNode:
    return NewNode(_FUSED, [first, second], attributes, domain=_MICROSOFT, name=named.name)


def _fused(value: ir.Value) -> ir.Node | None:
    node = value.producer()
    found = node is not None and (node.domain, node.op_type) == (_MICROSOFT, _FUSED)
    return node if found else None


def _around(value: ir.Value | None, node: ir.Node, context: Context) -> _Operand | None:
    """An operand without what a FusedMatMul does by itself."""
    found = None if value is None else _Operand(value)
    while found is not None and len(found.nodes) < _MOST_AROUND:
        above = producer_of(found.value, "Div", "Mul", "Transpose")
        reader = found.nodes[0] if found.nodes else node
        if above is None or above.graph is not node.graph or shared(found.value, reader):
            return found
        inside = _taken_in(above, found, context)
        if inside is None:
            return found
        found = inside
    return found


def _taken_in(above: ir.Node, found: _Operand, context: Context) -> _Operand | None:
    """The operand with one node more; None where that does something else."""
    if above.op_type == "Transpose":
        source, perm = above.inputs[0], transposition(above, context)
        if source is None or perm is None or not _swaps_last(perm):
            return None
        moved = replace(found, value=source, transposed=not found.transposed)
        return replace(moved, nodes=(above, *found.nodes))
    scaled = _scaled(above, context)
    if scaled is None or not _usable(scaled[1]):
        return None
    value, scale = scaled
    return replace(found, value=value, scale=found.scale * scale, nodes=(above, *found.nodes))


def _swaps_last(perm: list[int]) -> bool:
    rank = len(perm)
    return rank >= 2 and perm == [*range(rank - 2), rank - 1, rank - 2]


def _scaled(node: ir.Node, context: Context) -> tuple[ir.Value, float] | None:
    """What a Mul or Div scales, and by which number."""
    for place in (1, 0) if node.op_type == "Mul" else (1,):
        value, number = node.inputs[1 - place], context.scalar(node.inputs[place])
        if value is None or not isinstance(number, float) or node.outputs[0] is value:
            continue
        rank, width = context.rank(value), context.rank(node.inputs[place])
        if rank is None or width is None or width > rank:
            continue
        if node.op_type == "Mul":
            return value, number
        return value, 1 / number if number else math.inf
    return None


def _usable(scale: float) -> bool:
    return math.isfinite(scale) and scale != 0
