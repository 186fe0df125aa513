"""MatMul between two Reshapes."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.folding.exclusive_producers import exclusive_producers
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewNode, Outcome, Replacement, producer_of


@register
class UnwrapMatMul(Pass):
    """Multiply without flattening first.

    What it does:
        A tensor that is flattened to a matrix, multiplied by a matrix, and given its leading axes
        back, is multiplied as it is: MatMul takes any number of leading axes. A bias added in
        between comes along.
    Before:
        x[batch, seq, 64] → Reshape(-1, 64) → MatMul([64, 256]) → Reshape(batch, seq, 256)
    After:
        x[batch, seq, 64] → MatMul([64, 256])
    When it is safe:
        The leading axes and the last axis of x are certainly those of the result and of the
        flattened matrix; the second factor is a matrix; nothing else reads the flat result.
    Numerics:
        The same sums of products; a runtime may sum in another order for another shape.
    Source:
        ONNX operator specification, MatMul (numpy.matmul): leading axes are a batch.
    """

    id = "unwrap-matmul"
    exactness = "reassociates"
    order = 24

    @rule("Reshape", name="FlattenedMatMul", reach=4)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A Reshape that gives a product its leading axes back."""
        last = producer_of(node.inputs[0], "MatMul", "Add")
        if last is None:
            return None
        bias = _bias(last, context) if last.op_type == "Add" else None
        flat = last.outputs[0]
        product = producer_of(flat if bias is None else _operand(last, bias), "MatMul")
        if product is None:
            return None
        wrapped, matrix = product.inputs
        above = producer_of(wrapped, "Reshape")
        if above is None or above.graph is not node.graph:
            return None
        source = above.inputs[0]
        if source is None or not _fits(node, wrapped, source, matrix, context):
            return None
        if not context.single_use(flat) or not context.single_use(product.outputs[0]):
            return None
        multiply = NewNode("MatMul", [source, matrix])
        new = [multiply]
        if bias is not None:
            new.append(NewNode("Add", [multiply.output(), bias]))
        matched = [above, *dict.fromkeys((product, last)), node]
        targets = (n.inputs[1].producer() for n in (above, node) if n.inputs[1] is not None)
        return Replacement(
            [*matched, *exclusive_producers(targets, around=matched)],
            {node.outputs[0]: new[-1].output()},
            "MatMul takes the leading axes as they are.",
            nodes=new,
        )


def _bias(node: ir.Node, context: Context) -> ir.Value | None:
    """A constant vector or scalar that is added."""
    for value in node.inputs:
        rank = context.rank(value)
        if context.is_constant(value) and rank is not None and rank <= 1:
            return value
    return None


def _operand(node: ir.Node, bias: ir.Value) -> ir.Value:
    first, second = node.inputs
    assert first is not None
    assert second is not None
    return second if first is bias else first


def _fits(
    node: ir.Node,
    wrapped: ir.Value | None,
    source: ir.Value,
    matrix: ir.Value | None,
    context: Context,
) -> bool:
    """Whether flattening and unflattening cancel."""
    if wrapped is None or matrix is None:
        return False
    shapes = [context.symbolic.shape(v) for v in (source, wrapped, matrix, node.outputs[0])]
    whole, flat, factor, result = shapes
    if whole is None or flat is None or factor is None or result is None:
        return False
    if len(flat) != 2 or len(factor) != 2 or len(whole) < 2:
        return False
    return whole[-1] == flat[1] == factor[0] and result == (*whole[:-1], factor[1])
