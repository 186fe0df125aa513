"""Transpose before a matrix product."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.channels import PRODUCTS
from optimizer.passes.block.fuse_matmul_add import GEMM_TYPES
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewNode, Outcome, Replacement, producer_of


@register
class FuseTransposeMatMul(Pass):
    """Fuse Transpose into Gemm.

    What it does:
        Gemm reads either factor transposed by itself (`transA`, `transB`). A Transpose of a matrix
        before a Gemm, or before a MatMul of matrices, goes away. A transposed constant is left to
        constant folding, which is better.
    Before:
        Transpose → Gemm
    After:
        Gemm(transA)
    When it is safe:
        The Transpose swaps the two axes of a matrix; the element type is a float.
    Numerics:
        The same products and sums; the runtime may add them up in another order.
    Source:
        ONNX operator specification, Gemm: A' = Aᵀ if transA.
    """

    id = "fuse-transpose-matmul"
    exactness = "reassociates"
    order = 76

    @rule(*PRODUCTS, name="TransposeMatMul")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Both factors are looked at in one go."""
        transposes = [_transpose(value, context) for value in node.inputs[:2]]
        found = [transpose for transpose in transposes if transpose is not None]
        if not found or node.outputs[0].dtype not in GEMM_TYPES:
            return None
        if node.op_type == "MatMul" and (context.opset() < 11 or not _are_matrices(node, context)):
            return None  # before opset 11 Gemm needs a bias
        if context.opset() < 7:
            return None
        attributes: dict[str, object] = dict(node.attributes)
        inputs = [*node.inputs]
        for index, transpose in enumerate(transposes):
            if transpose is not None:
                name = "transB" if index else "transA"
                inputs[index] = transpose.inputs[0]
                attributes[name] = 0 if context.attribute(node, name) else 1
        made = NewNode("Gemm", inputs, attributes, name=node.name)
        reason = "Gemm can read a factor transposed: the Transpose only swaps its two axes."
        matched = list(dict.fromkeys([*found, node]))
        return Replacement.by(made, reason, *matched)


def _transpose(value: ir.Value | None, context: Context) -> ir.Node | None:
    """The Transpose of a matrix that makes `value`, unless it transposes a constant."""
    transpose = producer_of(value, "Transpose")
    if transpose is None or context.rank(value) != 2:
        return None
    if context.is_constant(transpose.inputs[0]):
        return None
    return transpose if context.integers(transpose, "perm") in (None, [1, 0]) else None


def _are_matrices(product: ir.Node, context: Context) -> bool:
    return all(context.rank(value) == 2 for value in product.inputs[:2])
