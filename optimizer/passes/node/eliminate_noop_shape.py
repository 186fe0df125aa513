"""Reshape, Flatten, (Un)squeeze, Transpose, Expand and Tile that leave shape and data alone."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.passes.node.agreement import (
    Verdict,
    bypass,
    doubtful_axes,
    is_own_shape,
    numbers,
    parameter,
    shown,
    unless_doubtful,
)
from optimizer.registry import Pass, register
from optimizer.rules import Context, Declined, given, transposition


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

    @bypass("Reshape", name="SameShapeReshape", reach=2)
    def reshape(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """A target that is the shape of the input."""
        if is_own_shape(given(node, 1), source):
            # With allowzero a 0 stays 0, without it copies the input's: the same for one's own.
            return "The target is the shape of the input itself."
        target = parameter(node, "shape", 1, context)
        doubtful = _open_axes(node, target, context)
        if doubtful is not None and len(doubtful) == 1:
            decided = _decided(source, doubtful[0], target, context=context)
            doubtful = [] if decided else doubtful
        return _near_miss(node, doubtful, context)

    @bypass("Flatten", name="SameShapeFlatten")
    def flatten(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """A matrix."""
        if len(context.symbolic.shape(source) or ()) != 2:
            return None
        if context.attribute(node, "axis") in (1, -1):
            return "Flatten at axis 1 leaves a matrix as it is."
        return _near_miss(node, doubtful_axes(source, node.outputs[0], context), context)


def _open_axes(node: ir.Node, target: Sequence[int] | None, context: Context) -> list[int] | None:
    """Axes in which the shapes may differ; None where they certainly do or nothing is known."""
    before = context.symbolic.shape(node.inputs[0])
    if before is None or (target is not None and len(target) != len(before)):
        return None
    copies = not context.attribute(node, "allowzero")
    copied = {axis for axis, size in enumerate(target or ()) if size == 0 and copies}
    doubtful = doubtful_axes(node.inputs[0], node.outputs[0], context)
    return doubtful and [axis for axis in doubtful if axis not in copied]


def _decided(
    source: ir.Value, axis: int, target: Sequence[int] | None, *, context: Context
) -> bool:
    """Whether the number of elements leaves only one size for the one open axis."""
    if target is not None and target[axis] == -1:
        return True
    shape = context.symbolic.shape(source) or ()
    others = [dim for index, dim in enumerate(shape) if index != axis]
    return all(isinstance(dim, int) and dim > 0 for dim in others)


def _near_miss(node: ir.Node, doubtful: list[int] | None, context: Context) -> Verdict:
    rank = len(context.symbolic.shape(node.inputs[0]) or ())
    if doubtful and len(doubtful) == rank:
        return None  # where one size is open the number of elements decides it; two are near
    return unless_doubtful(node, doubtful, context, most=2)


@register
class EliminateNoopSqueeze(Pass):
    """Remove Squeeze and Unsqueeze of no axis.

    What it does:
        A Squeeze that finds no axis to remove and an Unsqueeze that adds none go away.
    Before:
        x:3×4 → Squeeze() → Relu
    After:
        x:3×4 → Relu
    When it is safe:
        Unsqueeze: its axes are constant and none. Squeeze: its axes are missing or none, and every
        dimension of the input is a number other than 1, because a Squeeze without axes removes all
        dimensions of size 1. Runtimes read an empty list of axes as a missing one; this holds
        under either reading.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Squeeze and Unsqueeze; ONNX Runtime's reading of empty axes.
    """

    id = "eliminate-noop-squeeze"
    exactness = "exact"
    order = 20

    @bypass("Squeeze", name="EmptySqueeze")
    def squeeze(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """An input that has no axis of size 1."""
        shape = context.symbolic.shape(source)
        if shape is None or not _no_axes(node, context) or 1 in shape:
            return None
        free = [dim for dim in shape if not isinstance(dim, int)]
        if free:
            names = ", ".join(shown(dim) for dim in free)
            return Declined(f"an axis may have size 1 and be removed: {names}")
        return "No axis of the input has size 1, so none is removed."

    @bypass("Unsqueeze", name="EmptyUnsqueeze")
    def unsqueeze(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """No axes."""
        return "No axis is added." if parameter(node, "axes", 1, context) == [] else None


def _no_axes(node: ir.Node, context: Context) -> bool:
    missing = "axes" not in node.attributes and given(node, 1) is None
    return missing or parameter(node, "axes", 1, context) == []


@register
class EliminateNoopTranspose(Pass):
    """Remove Transpose that moves nothing.

    What it does:
        A Transpose that leaves every element where it is goes away.
    Before:
        x → Transpose(perm = [0, 1, 2]) → Relu
    After:
        x → Relu
    When it is safe:
        The permutation is the identity; a missing one reverses the axes, so the rank is then 0 or
        1. Or only axes of size 1 change places and the shape certainly stays the same. Where the
        shape changes, a Reshape would be needed instead, and the Transpose stays.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Transpose.
    """

    id = "eliminate-noop-transpose"
    exactness = "exact"
    order = 20

    @bypass("Transpose", name="IdentityTranspose")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """A permutation that moves no element."""
        order = transposition(node, context)
        if order is None:
            return None
        if order == sorted(order):
            return "The permutation is the identity."
        if not _moves_only_ones(order, context.symbolic.shape(source)):
            return None
        doubtful = doubtful_axes(source, node.outputs[0], context)
        if doubtful == []:
            return "Only axes of size 1 change places, and the shape stays the same."
        if doubtful is None:
            return Declined(
                "only axes of size 1 move, but the shape changes: it is a Reshape, not a copy"
            )
        return unless_doubtful(node, doubtful, context, most=len(doubtful))


def _moves_only_ones(order: Sequence[int], shape: Sequence[Dimension] | None) -> bool:
    """Whether all axes but those of size 1 keep their order, so that no element moves."""
    if shape is None or len(shape) != len(order):
        return False
    moving = [axis for axis in order if shape[axis] != 1]
    return moving == sorted(moving)


@register
class EliminateNoopExpand(Pass):
    """Remove Expand and Tile that add nothing.

    What it does:
        An Expand to the shape its input already has, or to ones, goes away; so does a Tile that
        repeats every axis once.
    Before:
        x:batch×seq → Expand(Shape(x)) → Add
    After:
        x:batch×seq → Add
    When it is safe:
        The output shape certainly equals the input shape: every dimension is the same number or
        the same symbol, or the target is 1 there; or the target is the Shape of the input itself.
        A Tile needs repeats that are known and all 1.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Expand and Tile.
    """

    id = "eliminate-noop-expand"
    exactness = "exact"
    order = 20

    @bypass("Expand", name="SameShapeExpand", reach=2)
    def expand(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """A target that is the shape of the input, or ones."""
        target = node.inputs[1]
        if target is None:
            return None
        if is_own_shape(target, source):
            return "The target is the shape of the input itself."
        wanted, shape = numbers(target, context), context.symbolic.shape(source)
        doubtful = doubtful_axes(source, node.outputs[0], context)
        if doubtful is not None and wanted is not None and shape is not None:
            ones = {len(shape) - 1 - i for i, size in enumerate(reversed(wanted)) if size == 1}
            doubtful = [axis for axis in doubtful if axis not in ones]
        return unless_doubtful(node, doubtful, context)

    @bypass("Tile", name="SingleTile")
    def tile(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """An input that is repeated once."""
        if len(node.inputs) != 2:  # opset 1 tiles one axis, by two inputs
            return None
        repeats = numbers(node.inputs[1], context)
        if repeats is not None:
            single = all(count == 1 for count in repeats)
            return "Every axis is repeated once." if single else None
        if doubtful_axes(source, node.outputs[0], context) == []:
            return Declined("the shape stays the same, but the repeats are not known")
        return None
