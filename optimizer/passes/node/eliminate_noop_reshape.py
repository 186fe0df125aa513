"""Reshape and Flatten to the shape that is already there."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.passes.node.agreement import (
    doubtful_axes,
    is_own_shape,
    parameter,
    shape_of,
    unless_doubtful,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement, given


@register
class EliminateNoopReshape(Pass):
    """Remove Reshape and Flatten to the same shape.

    What it does:
        A Reshape or Flatten whose output has the shape of its input goes away.
    Before:
        x:batch×seq×768 → Reshape([0, 0, -1]) → Add
    After:
        x:batch×seq×768 → Add
    When it is safe:
        The output shape certainly equals the input shape: every dimension is the same number or
        the same symbol, or the target copies it (0 without `allowzero`), or the target is the
        Shape of the input itself. One dimension may be left open when all others are certain and
        the number of elements then decides it: where the target says -1, or where the others are
        numbers above 0. A Flatten is also safe on rank 2 with axis 1.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Reshape and Flatten.
    """

    id = "eliminate-noop-reshape"
    exactness = "exact"
    order = 20

    @rule("Reshape", name="SameShapeReshape", reach=2)
    def reshape(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input of the same shape."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None:
            return None
        if is_own_shape(given(node, 1), source):
            # With allowzero a 0 stays 0, without it copies the input's: the same for one's own.
            reason = "The target is the shape of the input itself."
            return Replacement([node], {output: source}, reason)
        target = parameter(node, "shape", 1, context)
        doubtful = _open_axes(node, target, context)
        if doubtful is not None and len(doubtful) == 1:
            decided = _decided(source, doubtful[0], target, context=context)
            doubtful = [] if decided else doubtful
        return _near_miss(node, doubtful, context)

    @rule("Flatten", name="SameShapeFlatten")
    def flatten(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input of the same shape."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None or len(shape_of(source, context) or ()) != 2:
            return None
        if context.attribute(node, "axis") in (1, -1):
            reason = "Flatten at axis 1 leaves a matrix as it is."
            return Replacement([node], {output: source}, reason)
        return _near_miss(node, doubtful_axes(source, output, context), context)


def _open_axes(node: ir.Node, target: Sequence[int] | None, context: Context) -> list[int] | None:
    """Axes in which the shapes may differ; None where they certainly do or nothing is known."""
    source, output = node.inputs[0], node.outputs[0]
    before = shape_of(source, context)
    if before is None or (target is not None and len(target) != len(before)):
        return None
    copies = not context.attribute(node, "allowzero")
    copied = {axis for axis, size in enumerate(target or ()) if size == 0 and copies}
    doubtful = doubtful_axes(source, output, context)
    if doubtful is None:
        return None
    return [axis for axis in doubtful if axis not in copied]


def _decided(
    source: ir.Value, axis: int, target: Sequence[int] | None, *, context: Context
) -> bool:
    """Whether the number of elements leaves only one size for the one open axis."""
    if target is not None and target[axis] == -1:
        return True
    shape = shape_of(source, context) or ()
    others = [dim for index, dim in enumerate(shape) if index != axis]
    return all(isinstance(dim, int) and dim > 0 for dim in others)


def _near_miss(node: ir.Node, doubtful: list[int] | None, context: Context) -> Outcome:
    rank = len(shape_of(node.inputs[0], context) or ())
    if doubtful and len(doubtful) == rank:
        return None  # where one size is open the number of elements decides it; two are near
    return unless_doubtful(node, doubtful, context, most=2)
