"""MatMul between two Reshapes."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.folding.exclusive_producers import exclusive_producers
from optimizer.passes.block.unit_axes import view
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    producer_of,
    transposition,
)

_MOST_NODES = 12


@register
class UnwrapMatMul(Pass):
    """Multiply without flattening first.

    What it does:
        A tensor that is flattened to a matrix, multiplied by a matrix, and given its leading axes
        back, is multiplied as it is: MatMul takes any number of leading axes. A bias added in
        between comes along. So do products of tensors whose batch and heads were made one axis,
        with what stands between them: scale, Softmax, a Transpose of the last two axes. Axes of
        size 1 beside them, which tf2onnx writes for an Einsum, are left out.
    Before:
        x[batch, seq, 64] → Reshape(-1, 64) → MatMul([64, 256]) → Reshape(batch, seq, 256)
    After:
        x[batch, seq, 64] → MatMul([64, 256])
    When it is safe:
        The leading axes and the last axis of x are certainly those of the result and of the
        flattened matrix, but for axes of size 1; the second factor is a matrix, or has the same
        leading axes made one; nothing else reads the flat result.
    Numerics:
        The same sums of products; a runtime may sum in another order for another shape. Where the
        second axis of x is free and 0 when it runs, the last Reshape takes that 0 for a size to
        copy: its result, which has no elements, has another shape than the product of x.
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

    @rule("Reshape", name="MergedBatch", reach=_MOST_NODES)
    def batched(self, node: ir.Node, context: Context) -> Outcome:
        """A Reshape that takes the one leading axis of a product, or of its operand, apart."""
        product = producer_of(node.inputs[0], "MatMul", "Transpose")
        whole = context.symbolic.shape(node.outputs[0])
        flat = context.symbolic.shape(node.inputs[0])
        if product is None or whole is None or flat is None or len(flat) != 3:
            return None
        extra = _beside(whole, flat[1:])
        if extra is None or len(whole) - len(extra) < 4:
            return None
        unmerging = _Unmerging(context, _without(whole, extra)[:-2])
        made = unmerging.of(node.inputs[0])
        if made is None:
            return None
        if extra:
            unmerging.made.append(view("Unsqueeze", made, extra, context))
            made = unmerging.made[-1].output()
        matched = [*dict.fromkeys(unmerging.matched), node]
        reshapes = (each for each in matched if each.op_type == "Reshape")
        targets = (each.inputs[1].producer() for each in reshapes if each.inputs[1] is not None)
        return Replacement(
            [*exclusive_producers(targets, around=matched), *matched],
            {node.outputs[0]: made},
            "MatMul takes batch and heads as two axes.",
            nodes=unmerging.made,
        )


class _Unmerging:
    """Computes with leading axes what was computed with all of them as one."""

    def __init__(self, context: Context, leading: tuple[Dimension, ...]) -> None:
        self._context = context
        self._leading = leading
        self.matched: list[ir.Node] = []
        self.made: list[NewNode] = []

    def of(self, value: ir.Value | None) -> Operand | None:
        """A value with the leading axes; None where they are not to be had."""
        array = self._context.array(value)
        if array is not None and array.ndim == 3:
            return self._apart(array)
        node = None if value is None else value.producer()
        shape = self._context.symbolic.shape(value)
        if value is None or node is None or node.domain or shape is None or len(shape) != 3:
            return None
        if node.op_type == "Reshape":
            return self._source(node, (*self._leading, *shape[1:]))
        if len(self.matched) >= _MOST_NODES or not self._context.single_use(value):
            return None
        return self._computed(node, len(shape))

    def _source(self, node: ir.Node, wanted: tuple[Dimension, ...]) -> Operand | None:
        """What a Reshape reads, in the shape that is wanted."""
        source = node.inputs[0]
        shape = self._context.symbolic.shape(source)
        extra = None if shape is None else _units(shape, wanted)
        if source is None or extra is None:
            return None
        self.matched.append(node)
        if not extra:
            return source
        self.made.append(view("Squeeze", source, extra, self._context))
        return self.made[-1].output()

    def _apart(self, array: np.ndarray) -> NewInitializer | None:
        """A constant with the leading axes."""
        sizes = [size for size in self._leading if isinstance(size, int)]
        if len(sizes) < len(self._leading) or math.prod(sizes) != len(array):
            return None
        return NewInitializer.of(array.reshape(*sizes, *array.shape[1:]), "apart")

    def _computed(self, node: ir.Node, rank: int) -> Operand | None:
        attributes: dict[str, object] = {}
        operands: list[Operand | None] = []
        if node.op_type == "Softmax":
            if self._context.attribute(node, "axis") not in (-1, rank - 1):
                return None
            attributes["axis"] = len(self._leading) + 1
        elif node.op_type == "Transpose":
            if transposition(node, self._context) != [0, 2, 1]:
                return None
            last = len(self._leading)
            attributes["perm"] = [*range(last), last + 1, last]
        elif node.op_type not in ("MatMul", "Mul", "Div"):
            return None
        for value in node.inputs:
            number = node.op_type != "MatMul" and self._context.scalar(value) is not None
            operands.append(value if number else self.of(value))
        if None in operands:
            return None
        self.matched.append(node)
        self.made.append(NewNode(node.op_type, operands, attributes))
        return self.made[-1].output()


def _units(shape: tuple[Dimension, ...], wanted: tuple[Dimension, ...]) -> list[int] | None:
    """Axes of size 1 without which a shape is the wanted one."""
    extra: list[int] = []
    for axis, size in enumerate(shape):
        if wanted and size == wanted[0]:
            wanted = wanted[1:]
        elif size == 1:
            extra.append(axis)
        else:
            return None
    return None if wanted else extra


def _beside(shape: tuple[Dimension, ...], last: tuple[Dimension, ...]) -> list[int] | None:
    """Axes of size 1, as few as can be, without which a shape ends in the last ones."""
    extra: list[int] = []
    for axis in range(len(shape))[::-1]:
        if _without(shape, extra)[-2:] == last:
            return extra
        if shape[axis] == 1:
            extra.insert(0, axis)
    return None


def _without(shape: tuple[Dimension, ...], axes: list[int]) -> tuple[Dimension, ...]:
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


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
