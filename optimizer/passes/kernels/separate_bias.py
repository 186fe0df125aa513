"""The bias of a Gemm as an Add, for a kernel that reads the product."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.cost.classes import MATRIX, operator_class
from optimizer.cost.sizes import Sizes
from optimizer.fusion.work import is_candidate
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement, given
from optimizer.runtime.fusions import AFTER_GEMM

_AS_IT_IS = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}
_OLDEST = 7


@register
class SeparateBias(Pass):
    """Separate a bias from its Gemm.

    What it does:
        A Gemm whose result is read by what a kernel is generated for becomes MatMul and Add: the
        kernel adds the bias on its way, for nothing, where the Gemm writes it first. What no
        kernel takes, ONNX Runtime makes a Gemm again.
    Before:
        Gemm(b) → Gelu
    After:
        MatMul → Add(b) → Gelu
    When it is safe:
        The Gemm neither transposes nor scales, and its bias is a constant row as wide as the
        product. Only what a kernel can be generated for reads it, Reshapes left aside, and no
        activation that ONNX Runtime computes inside a Gemm.
    Numerics:
        The same mathematics; the bias is added after instead of before all others.
    Source:
        ONNX operator specification, Gemm: Y = αAB + βC.
    """

    id = "separate-bias"
    exactness = "reassociates"
    presets = ("generated",)
    order = 85
    last = True

    @rule("Gemm", name="GemmBias", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Gemm as MatMul and Add."""
        bias, left = given(node, 2), node.inputs[0]
        if bias is None or left is None or node.inputs[1] is None or context.opset() < _OLDEST:
            return None
        attributes = {name: one.value for name, one in node.attributes.items()}
        if {**_AS_IT_IS, **attributes} != _AS_IT_IS:
            return Declined("Gemm transposes or scales")
        width = context.symbolic.shape(node.outputs[0])
        if width is None or not context.is_constant(bias):
            return None
        if context.symbolic.shape(bias) != width[1:]:
            return Declined("The bias is no row as wide as the product")
        readers = [*_readers(node.outputs[0])]
        if not readers or not all(_is_for_kernels(reader) for reader in readers):
            return None
        product = NewNode("MatMul", [left, node.inputs[1]], name=node.name)
        added = NewNode("Add", [product.output(), bias])
        reason = "A kernel adds the bias for nothing, a Gemm writes it first."
        return Replacement([node], {node.outputs[0]: added.output()}, reason, [product, added])


def _readers(value: ir.Value) -> Iterator[ir.Node]:
    """What reads a value, or another shape of it."""
    for use in value.uses():
        if use.node.op_type == "Reshape" and not use.node.domain:
            yield from _readers(use.node.outputs[0])
        else:
            yield use.node


def _is_for_kernels(node: ir.Node) -> bool:
    return (
        is_candidate(node)
        and node.op_type not in AFTER_GEMM
        and operator_class(node, Sizes()) not in MATRIX
    )
