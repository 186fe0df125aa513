"""A matrix product with the addition of a bias after it, or a Transpose before it, as Gemm."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.channels import PRODUCTS
from optimizer.passes.node.agreement import same_size
from optimizer.passes.wording import shared
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
    producer_of,
)

GEMM_TYPES = frozenset(
    {ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16, ir.DataType.BFLOAT16}
)
"""Element types that runtimes implement Gemm for."""


@register
class FuseMatMulAdd(Pass):
    """Fuse MatMul and Add into Gemm.

    What it does:
        A product of two matrices and the bias added to it become one Gemm. A Gemm without a bias
        takes up the one that is added after it; two constant biases are added up. A batched
        product stays as it is: the Reshapes around a Gemm would cost more than the Add.
    Before:
        MatMul → Add(b)
    After:
        Gemm(b)
    When it is safe:
        Both factors are matrices. The bias is a scalar, a row, a column or a matrix that fits the
        product without making it larger. Nothing else reads the product. The element type is a
        float.
    Numerics:
        The same mathematics; the bias may be added before instead of after the last rounding.
    Source:
        ONNX operator specification, Gemm: Y = αAB + βC.
    """

    id = "fuse-matmul-add"
    exactness = "reassociates"
    order = 74

    @rule("Add", name="MatMulAdd")
    def matmul(self, node: ir.Node, context: Context) -> Outcome:
        """MatMul, then Add."""
        return _either_operand(node, "MatMul", context)

    @rule("Add", name="GemmAdd")
    def gemm(self, node: ir.Node, context: Context) -> Outcome:
        """Gemm, then Add."""
        return _either_operand(node, "Gemm", context)


def _either_operand(node: ir.Node, operator: str, context: Context) -> Outcome:
    answer: Outcome = None
    for position, value in enumerate(node.inputs[:2]):
        product, bias = producer_of(value, operator), node.inputs[1 - position]
        if product is None or bias is None or context.opset() < 7:
            continue
        answer = _fused(node, product, bias, context) or answer
        if isinstance(answer, Replacement):
            return answer
    return answer


def _fused(node: ir.Node, product: ir.Node, bias: ir.Value, context: Context) -> Outcome:
    out = product.outputs[0]
    shape = context.symbolic.shape(out)
    if shape is None or out.dtype not in GEMM_TYPES:
        return None
    if not _are_matrices(product, context):
        if not context.is_constant(bias) or context.rank(bias) != 1:
            return None
        reason = f"MatMul is batched ({len(shape)} dimensions), Gemm takes matrices only"
        return Declined(reason, (product,))
    problem = _misfit(bias, out, context)
    blocked = shared(out, node) if problem is None else Declined(problem, (product,))
    if blocked is not None:
        return blocked
    existing = given(product, 2)
    total = bias if existing is None else _sum(product, existing, bias, context)
    if isinstance(total, Declined):
        return total
    attributes = {**product.attributes, "beta": None}
    made = NewNode("Gemm", [*product.inputs[:2], total], attributes, name=product.name)
    what = "bias" if existing is None else "second bias"
    reason = f"Gemm adds the {what} by itself."
    return Replacement.by(made, reason, product, node)


def _are_matrices(product: ir.Node, context: Context) -> bool:
    shapes = [context.symbolic.shape(v) for v in product.inputs[:2] if v is not None]
    return all(shape is not None and len(shape) == 2 for shape in shapes)


def _misfit(bias: ir.Value, product: ir.Value, context: Context) -> str | None:
    """Why a bias cannot be Gemm's C: it must broadcast to the product and never enlarge it."""
    small, large = context.symbolic.shape(bias), context.symbolic.shape(product)
    if small is None or large is None:
        return "The shape of the bias is not known"
    if len(small) > 2:
        return f"The bias has {len(small)} dimensions: the sum is no matrix"
    for mine, other in zip(small[::-1], large[::-1], strict=False):
        if mine == 1:
            continue
        fits = same_size(mine, other)
        if fits is None:
            return "It is not known whether the bias fits the product without enlarging it"
        if not fits:
            return "Adding the bias enlarges the product"
    return None


def _sum(gemm: ir.Node, existing: ir.Value, bias: ir.Value, context: Context) -> Operand | Declined:
    """The constant that both biases amount to."""
    old, new = context.array(existing), context.array(bias)
    if old is None or new is None:
        return Declined("Gemm has a bias already, and not both are constant", (gemm,))
    beta = context.attribute(gemm, "beta")
    with np.errstate(all="ignore"):
        exact = old.astype(np.float64) * (beta if isinstance(beta, float) else 1.0)
        exact = exact + new.astype(np.float64)
        total = exact.astype(old.dtype)
    if exact.size > max(old.size, new.size):
        return Declined("A row and a column would make a matrix of constants", (gemm,))
    if not np.isfinite(total.astype(np.float64)).all():
        return Declined(f"The sum of the biases does not fit {old.dtype}", (gemm,))
    return NewInitializer.of(total, existing.name or "bias")


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
