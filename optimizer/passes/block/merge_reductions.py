"""Reductions in a row, of axes of size 1, and with a view before or after them."""

from __future__ import annotations

from math import prod

import onnx_ir as ir

from optimizer.operators.catalogue import RESHAPING
from optimizer.operators.reduction import reduced
from optimizer.passes.block.reductions import EXTREMES, REDUCTIONS, reduction_of
from optimizer.passes.block.unit_axes import view
from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    Outcome,
    Replacement,
    producer_of,
    transposition,
)

_EXACT = ("ReduceMax", "ReduceMin")
_ROUNDED = ("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum")
_SUMS = tuple(name for name in REDUCTIONS if name not in _EXACT)
_MEANS = (ir.DataType.FLOAT, ir.DataType.DOUBLE)
_COPIES = ("ReduceMax", "ReduceMin", "ReduceProd")
"""Of one element they return it; a sum begins with 0, and 0 + -0 is 0."""


@register
class MergeReductions(Pass):
    """Merge reductions with each other and with views.

    What it does:
        A Squeeze, Reshape or Flatten after a reduction that takes out the axes that it left, or
        an Unsqueeze that puts them back, becomes the reduction's own `keepdims`. The largest of
        the largest is the largest along both axes at once. A maximum or product along axes of
        size 1 goes away, and so does a Transpose before a maximum where what is left keeps its
        order.
    Before:
        x → ReduceMean(axis 1) → Squeeze(axis 1)
    After:
        x → ReduceMean(axis 1, keepdims = 0)
    When it is safe:
        The axes are constant, and nothing else reads the value in between. For a view the shapes
        are certainly those of the reduction with the axes, or without them.
    Numerics:
        Bit-identical: the same elements are compared. Sums are left to `merge-sums`.
    Source:
        ONNX operator specification, ReduceMax and the other reductions, ArgMax.
    """

    id = "merge-reductions"
    exactness = "exact"
    order = 66

    @rule(*sorted(RESHAPING), name="ViewOfReduction", reach=2)
    def view(self, node: ir.Node, context: Context) -> Outcome:
        """Axes that are kept and taken out, or taken out and put back."""
        above = producer_of(node.inputs[0], *REDUCTIONS, *EXTREMES)
        found = reduction_of(above, context)
        if above is None or found is None:
            return None
        source = context.symbolic.shape(above.inputs[0])
        if source is None or context.symbolic.shape(node.outputs[0]) != reduced(
            source, found.axes, keep=not found.keep
        ):
            return None
        blocked = shared(above.outputs[0], node)
        if blocked is not None:
            return blocked
        made = found.along(found.axes, above.inputs[0], context.opset(), keep=not found.keep)
        what = "takes the axes out" if found.keep else "keeps the axes"
        return Replacement.by(made, f"{above.op_type} {what} by itself.", above, node)

    @rule(*_EXACT, name="ExtremeOfExtreme", reach=2)
    def extremes(self, node: ir.Node, context: Context) -> Outcome:
        """The largest of the largest."""
        return _both(node, context)

    @rule(*_COPIES, name="ReductionOfOneElement")
    def single(self, node: ir.Node, context: Context) -> Outcome:
        """Along axes of size 1 there is nothing to choose from."""
        return _of_one(node, context)

    @rule(*_EXACT, *EXTREMES, name="ExtremeOfTranspose", reach=2)
    def moved(self, node: ir.Node, context: Context) -> Outcome:
        """Axes that change places before one of them is gone."""
        return _of_transpose(node, context)


@register
class MergeSums(Pass):
    """Merge sums, means and products in a row.

    What it does:
        The sum of sums is the sum along both axes at once; likewise of means, of products, of
        norms. A sum over the number of its terms, or times one over it, is a mean. A sum or mean
        of axes of size 1 goes away, and so does a Transpose before a sum where what is left keeps
        its order.
    Before:
        x → ReduceSum(axis 2) → ReduceSum(axis 1)
    After:
        x → ReduceSum(axes 1, 2)
    When it is safe:
        Both reductions are the same, their axes are constant, and nothing else reads the value in
        between. For a mean the sizes of the axes are known.
    Numerics:
        The same numbers, added up in another order; of one zero the sign is kept.
    Source:
        Associativity; a mean of means of equally many numbers is their mean.
    """

    id = "merge-sums"
    exactness = "reassociates"
    order = 67

    @rule(*_ROUNDED, name="SumOfSums", reach=2)
    def sums(self, node: ir.Node, context: Context) -> Outcome:
        """The same reduction twice."""
        dtype = node.outputs[0].dtype
        if node.op_type != "ReduceSum" and (dtype is None or not dtype.is_floating_point()):
            return None
        return _both(node, context)

    @rule("Mul", "Div", name="SumOverCount", reach=2)
    def mean(self, node: ir.Node, context: Context) -> Outcome:
        """A sum over the number of its terms, or times one over it."""
        first, second = node.inputs
        pairs = ((first, second), (second, first)) if node.op_type == "Mul" else ((first, second),)
        for value, other in pairs:
            above = producer_of(value, "ReduceSum")
            if above is not None and value is not None and context.is_constant(other):
                return _mean(node, above, other, context)
        return None

    @rule(*_SUMS, name="SumOfTranspose", reach=2)
    def moved(self, node: ir.Node, context: Context) -> Outcome:
        """Axes that change places before one of them is gone."""
        return _of_transpose(node, context)

    @rule("ReduceMean", "ReduceSum", name="SumOfOneElement")
    def single(self, node: ir.Node, context: Context) -> Outcome:
        """Along axes of size 1 there is nothing to add."""
        return _of_one(node, context)


def _mean(node: ir.Node, above: ir.Node, other: ir.Value | None, context: Context) -> Outcome:
    """The mean that a sum and a factor or divisor are."""
    found, shape = reduction_of(above, context), context.symbolic.shape(above.inputs[0])
    number, dtype = context.scalar(other), node.outputs[0].dtype
    if found is None or shape is None or number is None or context.rank(other) not in (0, 1):
        return None
    sizes = [shape[axis] for axis in found.axes]
    if dtype is None or dtype not in _MEANS or not all(isinstance(size, int) for size in sizes):
        return None
    count = prod(size for size in sizes if isinstance(size, int))
    wanted = count if node.op_type == "Div" else 1 / max(count, 1)
    if not count or dtype.numpy().type(number) != dtype.numpy().type(wanted):
        return None
    blocked = shared(above.outputs[0], node)
    if blocked is not None:
        return blocked
    if len(shape) - (0 if found.keep else len(found.axes)) < (context.rank(other) or 0):
        return None
    made = found.along(
        found.axes, above.inputs[0], context.opset(), keep=found.keep, operator="ReduceMean"
    )
    reason = f"A sum of {count} numbers over {count} is their mean."
    return Replacement.by(made, reason, above, node)


def _of_transpose(node: ir.Node, context: Context) -> Outcome:
    above = producer_of(node.inputs[0], "Transpose")
    found = reduction_of(node, context)
    perm = None if above is None else transposition(above, context)
    if above is None or found is None or perm is None or len(perm) != found.rank or found.keep:
        return None
    left = [axis for place, axis in enumerate(perm) if place not in found.axes]
    if left != sorted(left):
        return None
    blocked = shared(above.outputs[0], node)
    if blocked is not None:
        return blocked
    axes = tuple(sorted(perm[axis] for axis in found.axes))
    made = found.along(axes, above.inputs[0], context.opset(), keep=False)
    reason = f"{node.op_type} finds its axes where they are; the others keep their order."
    return Replacement.by(made, reason, above, node)


def _both(node: ir.Node, context: Context) -> Outcome:
    above = producer_of(node.inputs[0], node.op_type)
    inner, outer = reduction_of(above, context), reduction_of(node, context)
    if above is None or inner is None or outer is None:
        return None
    if inner.keep != outer.keep and not inner.keep:
        return Declined("The first reduction takes its axes out, the second does not", (above,))
    blocked = shared(above.outputs[0], node)
    if blocked is not None:
        return blocked
    left = [axis for axis in range(inner.rank) if inner.keep or axis not in inner.axes]
    axes = {left[axis] for axis in outer.axes}
    if inner.keep and not outer.keep and not axes >= {*inner.axes}:
        return Declined("The first reduction keeps its axes, the second one does not", (above,))
    both = tuple(sorted({*inner.axes, *axes}))
    made = outer.along(both, above.inputs[0], context.opset(), keep=outer.keep)
    reason = f"One {node.op_type} goes along the axes of both."
    return Replacement.by(made, reason, above, node)


def _of_one(node: ir.Node, context: Context) -> Outcome:
    found, source = reduction_of(node, context), node.inputs[0]
    shape = context.symbolic.shape(source)
    if found is None or source is None or shape is None:
        return None
    if any(shape[axis] != 1 for axis in found.axes):
        return None
    reason = f"{node.op_type} of one element is that element."
    if found.keep:
        return Replacement([node], {node.outputs[0]: source}, reason)
    return Replacement.by(view("Squeeze", source, found.axes, context), reason, node)
