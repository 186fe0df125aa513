"""Gathers of Gathers and of Concats."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import shared
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


@register
class MergeGathers(Pass):
    """Merge Gathers in a row.

    What it does:
        A Gather of what another one picked along the same axis becomes one Gather. A Gather from a
        Concat that picks from one of its operands alone reads that operand.
    Before:
        x → Gather([4, 2, 0]) → Gather([2, 2])
    After:
        x → Gather([0, 0])
    When it is safe:
        All indices are constant and inside what they index, those of the inner Gather a vector.
        The sizes of a Concat's operands up to the one that is picked from are known. Nothing else
        reads the value in between.
    Numerics:
        Bit-identical: elements are picked, never computed.
    Source:
        ONNX operator specification, Gather and Concat.
    """

    id = "merge-gathers"
    exactness = "exact"
    order = 29

    @rule("Gather", name="GatherOfGather", reach=2)
    def chain(self, node: ir.Node, context: Context) -> Outcome:
        """Indices into what other indices picked."""
        above = producer_of(node.inputs[0], "Gather")
        inner = None if above is None else context.array(above.inputs[1])
        outer = context.array(node.inputs[1])
        if above is None or inner is None or outer is None or inner.ndim != 1:
            return None
        axis = _axis(node, context)
        if axis is None or axis != _axis(above, context):
            return None
        if not _inside(outer, inner.size):
            return Declined("An index lies outside of what it indexes", (above,))
        if blocked := shared(above.outputs[0], node):
            return blocked
        picked = NewInitializer.of(inner[outer], f"{above.outputs[0].name}_index", inner.dtype)
        made = NewNode("Gather", [above.inputs[0], picked], {"axis": axis})
        return Replacement.by(made, "Indices of indices are indices.", above, node)

    @rule("Gather", name="GatherOfConcat", reach=2)
    def joined(self, node: ir.Node, context: Context) -> Outcome:
        """Indices that all point into one operand."""
        concat, indices = producer_of(node.inputs[0], "Concat"), context.array(node.inputs[1])
        if concat is None or indices is None or indices.size == 0:
            return None
        axis = _axis(node, context)
        if axis is None or axis != _axis(concat, context) or indices.min() < 0:
            return None
        start = 0
        for operand in concat.inputs:
            size = (context.symbolic.shape(operand) or {axis: None})[axis]
            if not isinstance(size, int):
                return None
            if start <= indices.min() and indices.max() < start + size:
                if blocked := shared(concat.outputs[0], node):
                    return blocked
                moved = NewInitializer.of(indices - start, "index", indices.dtype)
                made = NewNode("Gather", [operand, moved], {"axis": axis})
                reason = "All indices point into one operand of the Concat."
                return Replacement.by(made, reason, concat, node)
            start += size
        return None


def _axis(node: ir.Node, context: Context) -> int | None:
    """The axis of the data from the front."""
    axis, rank = context.attribute(node, "axis"), context.rank(node.inputs[0])
    if not isinstance(axis, int) or rank is None:
        return None
    return axis % rank if rank else None


def _inside(indices: np.ndarray, size: int) -> bool:
    return bool(((indices >= -size) & (indices < size)).all())
