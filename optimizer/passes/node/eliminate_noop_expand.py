"""Expands and Tiles that add nothing."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.node.agreement import (
    doubtful_axes,
    is_own_shape,
    numbers,
    shape_of,
    unless_doubtful,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


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

    @rule("Expand", name="SameShapeExpand", reach=2)
    def expand(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input of the same shape."""
        source, output, target = node.inputs[0], node.outputs[0], node.inputs[1]
        if source is None or target is None:
            return None
        if is_own_shape(target, source):
            reason = "The target is the shape of the input itself."
            return Replacement([node], {output: source}, reason)
        wanted, shape = numbers(target, context), shape_of(source, context)
        doubtful = doubtful_axes(source, output, context)
        if doubtful is None:
            return None
        if wanted is not None and shape is not None:
            ones = {len(shape) - 1 - i for i, size in enumerate(reversed(wanted)) if size == 1}
            doubtful = [axis for axis in doubtful if axis not in ones]
        return unless_doubtful(node, doubtful, context)

    @rule("Tile", name="SingleTile")
    def tile(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input that is repeated once."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None or len(node.inputs) != 2:  # opset 1 tiles one axis, by two inputs
            return None
        repeats = numbers(node.inputs[1], context)
        if repeats is not None:
            if any(count != 1 for count in repeats):
                return None
            return Replacement([node], {output: source}, "Every axis is repeated once.")
        if doubtful_axes(source, output, context) == []:
            return Declined("the shape stays the same, but the repeats are not known")
        return None
