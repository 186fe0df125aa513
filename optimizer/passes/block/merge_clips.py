"""Clip and Relu in a row."""

from __future__ import annotations

import math

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    given,
    producer_of,
)

Bounds = tuple[float, float]


@register
class MergeClips(Pass):
    """Merge Clip and Relu in a row.

    What it does:
        Two Clips, or a Clip and a Relu (which is a Clip from 0), become one Clip. A Clip without
        bounds goes away.
    Before:
        x → Relu → Clip(max=6)
    After:
        x → Clip(0, 6)
    When it is safe:
        The bounds are constant and in order, the element type is a float, and nothing else reads
        the value in between.
    Numerics:
        Bit-identical: the bounds are compared, never computed. A Clip that lacks a bound gives the
        largest number for an infinity on that side, which stays infinite where the Clip goes away.
    Source:
        min(max(min(max(x, a), b), c), d) = min(max(x, clip(a)), clip(b)).
    """

    id = "merge-clips"
    exactness = "exact"
    order = 62

    @rule("Clip", "Relu", name="ClipChain", reach=2)
    def chain(self, node: ir.Node, context: Context) -> Outcome:
        """Two clamps in a row."""
        above = producer_of(node.inputs[0], "Clip", "Relu")
        if above is None or above.op_type == node.op_type == "Relu":
            return None
        middle = above.outputs[0]
        if middle.dtype is None or not middle.dtype.is_floating_point():
            return None
        first, second = _bounds(above, context), _bounds(node, context)
        if first is None or second is None:
            return Declined("The bounds of the Clip are not constant.", (above,))
        if not context.single_use(middle):
            return Declined(f"The output of {above.op_type} has a second consumer.", (above,))
        low, high = (min(max(bound, second[0]), second[1]) for bound in first)
        clip = _clip(above.inputs[0], (low, high), middle.dtype, context)
        names = f"{above.op_type} and {node.op_type}"
        reason = f"{names} keep values within [{low:g}, {high:g}] together."
        return Replacement.by(clip, reason, above, node)

    @rule("Clip", name="ClipWithoutBounds")
    def unbounded(self, node: ir.Node, context: Context) -> Outcome:
        """A Clip that is given no bounds."""
        source = node.inputs[0]
        if context.opset() < 11 or source is None or any(v is not None for v in node.inputs[1:]):
            return None
        return Replacement([node], {node.outputs[0]: source}, "The Clip is given no bounds.")


def _bounds(node: ir.Node, context: Context) -> Bounds | None:
    """Lower and upper bound; infinite where there is none, None where they are not constant."""
    if node.op_type == "Relu":
        return 0.0, math.inf
    if context.opset() < 11:
        low, high = context.attribute(node, "min"), context.attribute(node, "max")
        found = [low, high]
    else:
        found = [_bound(node, index, context) for index in (1, 2)]
    if not all(isinstance(bound, int | float) for bound in found):
        return None
    low, high = (float(bound) for bound in found)  # pyright: ignore[reportArgumentType] - checked above
    return (low, high) if low <= high else None


def _bound(node: ir.Node, index: int, context: Context) -> float | None:
    value = given(node, index)
    if value is None:
        return math.inf if index == 2 else -math.inf
    return context.scalar(value)


def _clip(source: ir.Value | None, bounds: Bounds, dtype: ir.DataType, context: Context) -> NewNode:
    if context.opset() < 11:
        return NewNode("Clip", [source], {"min": bounds[0], "max": bounds[1]})
    low, high = (
        None if math.isinf(bound) else NewInitializer.of(bound, hint, dtype.numpy())
        for bound, hint in zip(bounds, ("clip_min", "clip_max"), strict=True)
    )
    operands = [source, low, high] if high is not None else [source, low]
    return NewNode("Clip", operands)
