"""Einsum that is one simpler operator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)

_FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16})


@register
class SimplifyEinsum(Pass):
    """Write Einsum as the operator that it is.

    What it does:
        An Einsum of one operand that only moves axes is a Transpose, one that only sums a
        ReduceSum, one that does nothing goes away. Of two operands it is a MatMul where the last
        axes are multiplied and all before them are batches, a Mul where nothing is summed. A
        constant factor is transposed here where that is all that is missing.
    Before:
        Einsum("bij,jk->bik", x, w)
    After:
        MatMul(x, w)
    When it is safe:
        The equation has no ellipsis and no letter twice in an operand. The sizes that are
        multiplied away are certainly equal: Einsum would broadcast one of size 1. The element
        type is float, double or float16. More than one operator is left to `lower-einsum`.
    Numerics:
        The same products, which may be added in another order.
    Source:
        ONNX operator specification, Einsum, MatMul and Transpose.
    """

    id = "simplify-einsum"
    exactness = "reassociates"
    order = 58

    @rule("Einsum", name="EinsumOfOne")
    def one(self, node: ir.Node, context: Context) -> Outcome:
        """Axes that move, or are summed."""
        found = _letters(node, context)
        source = node.inputs[0]
        if found is None or source is None or len(found[0]) != 1:
            return None
        (letters,), result = found
        if letters == result:
            reason = "The axes stay where they are, and nothing is summed."
            return Replacement([node], {node.outputs[0]: source}, reason)
        if sorted(letters) == sorted(result):
            perm = [letters.index(letter) for letter in result]
            made = NewNode("Transpose", [source], {"perm": perm})
            return Replacement.by(made, "Einsum only moves axes.", node)
        if "".join(letter for letter in letters if letter in result) != result:
            return None
        axes = [axis for axis, letter in enumerate(letters) if letter not in result]
        made = _sum(source, axes, context)
        return Replacement.by(made, "Einsum only adds along axes.", node)

    @rule("Einsum", name="EinsumOfTwo")
    def two(self, node: ir.Node, context: Context) -> Outcome:
        """A matrix product, or a product of elements."""
        found = _letters(node, context)
        if found is None or len(found[0]) != 2:
            return None
        (left, right), result = found
        for order in ((0, 1), (1, 0)):
            first, second = (node.inputs[place] for place in order)
            terms = (left, right) if order == (0, 1) else (right, left)
            if result == terms[0] and terms[0].endswith(terms[1]):
                return _product(node, (first, second), context)
            if _is_matmul(terms, result):
                return _matmul(node, (first, second), terms, context)
            if context.is_constant(second) and _is_matmul((terms[0], _turned(terms[1])), result):
                return _matmul(node, (first, second), terms, context)
        return Declined("It takes more than one operator", (), "Switch on lower-einsum.")


def _letters(node: ir.Node, context: Context) -> tuple[list[str], str] | None:
    """The letters of the operands and of the result; None where the equation is not plain."""
    equation = node.attributes.get_string("equation", "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if not arrow:
        result = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    if any("." in term or len(set(term)) < len(term) for term in (*terms, result)):
        return None
    known = [
        context.rank(value) == len(term) for value, term in zip(node.inputs, terms, strict=False)
    ]
    return (terms, result) if all(known) and node.outputs[0].dtype in _FLOATS else None


def _turned(letters: str) -> str:
    return letters[:-2] + letters[-2:][::-1]


def _is_matmul(terms: tuple[str, str], result: str) -> bool:
    """Whether the terms are [batch, rows, inner] and [batch, inner, columns], or less of that."""
    left, right = terms
    inner = left[-1:]
    if not inner or inner in result:
        return False
    if right == inner:
        return result == left[:-1]
    if len(right) < 2 or right[-2] != inner or right[-1] in left:
        return False
    batch, column = right[:-2], right[-1]
    if not batch:
        return result == left[:-1] + column
    return len(left) > 1 and left[:-2] == batch and result == batch + left[-2] + column


def _matmul(
    node: ir.Node,
    operands: tuple[ir.Value | None, ir.Value | None],
    terms: tuple[str, str],
    context: Context,
) -> Outcome:
    first, second = operands
    inner = terms[0][-1]
    sizes = [
        (context.symbolic.shape(value) or ())[letters.index(inner)]
        for value, letters in zip(operands, terms, strict=True)
    ]
    if sizes[0] != sizes[1]:
        return Declined(f"The sizes of '{inner}' are not known to be equal: {sizes[0]}, {sizes[1]}")
    factor: Operand | None = second
    if len(terms[1]) > 1 and terms[1][-2] != inner:
        data = context.array(second)
        if data is None or second is None:
            return None
        factor = NewInitializer.of(np.swapaxes(data, -1, -2), second.name or "factor")
    made = NewNode("MatMul", [first, factor])
    return Replacement.by(made, "The last axes are multiplied, the others are batches.", node)


def _product(
    node: ir.Node, operands: tuple[ir.Value | None, ir.Value | None], context: Context
) -> Outcome:
    """A product of elements, if it has the shape of the first factor."""
    if not context.same_shape(operands[0], node.outputs[0]):
        return None
    return Replacement.by(NewNode("Mul", [*operands]), "Nothing is summed.", node)


def _sum(source: ir.Value, axes: Sequence[int], context: Context) -> NewNode:
    attributes: dict[str, object] = {"keepdims": 0}
    if context.opset() < 13:
        return NewNode("ReduceSum", [source], {**attributes, "axes": [*axes]})
    return NewNode("ReduceSum", [source, NewInitializer.ints(axes, "axes")], attributes)
