"""Reshape and Flatten to the shape that is already there."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.passes.node.agreement import (
    doubt,
    doubtful_axes,
    is_own_shape,
    numbers,
    shape_of,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


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
        if is_own_shape(_shape_input(node), source):
            # With allowzero a 0 stays 0, without it copies the input's: the same for one's own.
            reason = "The target is the shape of the input itself."
            return Replacement([node], {output: source}, reason)
        target = _target(node, context)
        doubtful = _open_axes(node, target, context)
        if doubtful is None:
            return None
        if not doubtful or (
            len(doubtful) == 1 and _decided(source, doubtful[0], target, context=context)
        ):
            reason = "The output shape equals the input shape."
            return Replacement([node], {output: source}, reason)
        return _near_miss(source, output, doubtful, context=context)

    @rule("Flatten", name="SameShapeFlatten")
    def flatten(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input of the same shape."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None or len(shape_of(source, context) or ()) != 2:
            return None
        if context.attribute(node, "axis") in (1, -1):
            reason = "Flatten at axis 1 leaves a matrix as it is."
            return Replacement([node], {output: source}, reason)
        doubtful = doubtful_axes(source, output, context)
        if doubtful is None:
            return None
        if not doubtful:
            reason = "The output shape equals the input shape."
            return Replacement([node], {output: source}, reason)
        return _near_miss(source, output, doubtful, context=context)


def _shape_input(node: ir.Node) -> ir.Value | None:
    return node.inputs[1] if len(node.inputs) > 1 else None


def _target(node: ir.Node, context: Context) -> Sequence[int] | None:
    """The target as numbers, -1 and 0 included; None where it is not known."""
    if len(node.inputs) > 1:
        return numbers(node.inputs[1], context)
    attribute = node.attributes.get("shape")  # opset 1
    return None if attribute is None else attribute.as_ints()


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


def _near_miss(
    source: ir.Value, output: ir.Value, doubtful: list[int], *, context: Context
) -> Outcome:
    rank = len(shape_of(source, context) or ())
    if len(doubtful) > 2 or len(doubtful) == rank:
        return None  # where one size is open the number of elements decides it; two are near
    text = doubt(source, output, doubtful, context=context)
    return Declined(f"the output shape is not known to equal the input shape: {text}")
