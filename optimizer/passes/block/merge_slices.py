"""Slices of Slices, and Slices that share their source."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.model.graph import use_count
from optimizer.passes.block.ranges import FAR, Range, ranges_of
from optimizer.passes.draft import Draft
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    producer_of,
)

MOST_PARTS = 64
"""Readers of one value that are looked at."""


@register
class MergeSlices(Pass):
    """Merge Slices of one source.

    What it does:
        A Slice of a Slice becomes one Slice. Slices that together take a whole axis of one source,
        each element once, become one Split.
    Before:
        x[2, 8] → Slice(0:3, axis 1), Slice(3:8, axis 1)
    After:
        x[2, 8] → Split(3, 5, axis 1)
    When it is safe:
        All bounds are constant and no step is negative. Ranges along the same axis are combined
        where both count from the front, or the size is known. For a Split the size of the axis is
        known, the ranges neither overlap nor leave anything out, and each Slice is of this one
        axis, with step 1.
    Numerics:
        Bit-identical: data is moved, never computed.
    Source:
        ONNX operator specification, Slice and Split.
    """

    id = "merge-slices"
    exactness = "exact"
    order = 27

    @rule("Slice", name="SliceOfSlice", reach=2)
    def chain(self, node: ir.Node, context: Context) -> Outcome:
        """A Slice of what another one took."""
        above = producer_of(node.inputs[0], "Slice")
        if above is None or above.graph is not node.graph:
            return None
        inner, outer = ranges_of(above, context), ranges_of(node, context)
        source = above.inputs[0]
        if inner is None or outer is None or source is None:
            return Declined("The bounds of a Slice are not constant", (above,))
        if not context.single_use(above.outputs[0]):
            return None
        shape = context.symbolic.shape(source) or ()
        combined = dict(inner)
        for axis, taken in outer.items():
            before = _sized(inner.get(axis, Range(0, FAR)), shape[axis])
            known = isinstance(shape[axis], int)
            found = before.of(_sized(taken, before.count if known else None))
            if found is None:
                return Declined("A range counts from an end that is not known", (above,))
            combined[axis] = found
        draft = Draft(context.opset(), node.outputs[0].name or "slice")
        axes = sorted(combined)
        made = draft.slice(
            source,
            axes,
            [combined[axis].start for axis in axes],
            [combined[axis].stop for axis in axes],
            [combined[axis].step for axis in axes],
        )
        reason = "One Slice takes what two in a row leave."
        return Replacement([above, node], {node.outputs[0]: made}, reason, draft.made)

    @rule("Slice", name="SlicesOfAxis")
    def parts(self, node: ir.Node, context: Context) -> Outcome:
        """The first of several Slices that together are an axis."""
        source = node.inputs[0]
        if source is None or context.opset() < 2 or not 2 <= use_count(source) <= MOST_PARTS:
            return None
        mine = _only_range(node, context)
        if mine is None:
            return None
        axis = mine[0]
        parts: dict[Range, ir.Node] = {}
        for use in source.uses():
            other = use.node
            if other.op_type != "Slice" or other.domain or other.graph is not node.graph:
                continue
            found = _only_range(other, context)
            if found is None or found[0] != axis:
                continue
            if other is not node and not context.precedes(node, other):
                return None  # another one is asked, or was
            parts.setdefault(found[1], other)
        ordered = sorted(parts, key=lambda part: part.start)
        if len(ordered) < 2 or not _tiles(ordered, _size(source, axis, context)):
            return None
        sizes = [part.stop - part.start for part in ordered]
        split = _split(source, axis, sizes, context)
        values = {parts[part].outputs[0]: split.output(i) for i, part in enumerate(ordered)}
        reason = f"{len(ordered)} Slices take axis {axis} apart, each element once."
        matched = [node, *(other for other in parts.values() if other is not node)]
        return Replacement(matched, values, reason, [split])


def _only_range(node: ir.Node, context: Context) -> tuple[int, Range] | None:
    """Axis and range, counted from the front, of a Slice that takes a run of a single axis."""
    ranges = ranges_of(node, context)
    if ranges is None or len(ranges) != 1:
        return None
    ((axis, taken),) = ranges.items()
    size = _size(node.inputs[0], axis, context)
    return None if size is None or taken.step != 1 else (axis, taken.within(size))


def _size(value: ir.Value | None, axis: int, context: Context) -> int | None:
    shape = context.symbolic.shape(value)
    size = None if shape is None else shape[axis]
    return size if isinstance(size, int) else None


def _tiles(ordered: list[Range], size: int | None) -> bool:
    """Whether ranges follow each other from the first to the last element."""
    ends = [0, *(part.stop for part in ordered)]
    starts = [*(part.start for part in ordered), size]
    return ends == starts and all(part.start < part.stop for part in ordered)


def _split(source: ir.Value, axis: int, sizes: list[int], context: Context) -> NewNode:
    if context.opset() < 13:
        return NewNode("Split", [source], {"axis": axis, "split": sizes}, outputs=len(sizes))
    operand = NewInitializer.ints(sizes, f"{source.name}_split")
    return NewNode("Split", [source, operand], {"axis": axis}, outputs=len(sizes))


def _sized(taken: Range, size: Dimension | None) -> Range:
    """The range from the front, where the size is known."""
    return taken.within(size) if isinstance(size, int) else taken
