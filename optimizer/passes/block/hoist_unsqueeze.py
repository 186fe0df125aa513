"""One Unsqueeze of a tensor instead of one of each row that is picked from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.passes.block.unit_axes import view
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewNode, Outcome, Replacement, producer_of


@dataclass(frozen=True, slots=True)
class _Row:
    """A Gather of one place along an axis, and the Unsqueeze behind it.

    Attributes:
        gather: the Gather.
        view: the Unsqueeze.
        axis: that is picked along, from the front.
        place: the axis that the Unsqueeze makes, from the front.
    """

    gather: ir.Node
    view: ir.Node
    axis: int
    place: int


@register
class HoistUnsqueeze(Pass):
    """Unsqueeze once before rows are picked.

    What it does:
        Where several rows are picked from a tensor, each by a Gather with a scalar, and each gets
        the same new axis by an Unsqueeze, the tensor gets it once. Unrolled loops do so, as the
        scan of Mamba.
    Before:
        x → Gather(0) → Unsqueeze, x → Gather(1) → Unsqueeze
    After:
        x → Unsqueeze → Gather(0), Gather(1)
    When it is safe:
        All pick along the same axis and make the same one. Indices are scalars. Nothing else
        reads the rows without the new axis.
    Numerics:
        Bit-identical: no element moves.
    Source:
        ONNX operator specification, Gather and Unsqueeze.
    """

    id = "hoist-unsqueeze"
    exactness = "exact"
    order = 32

    @rule("Unsqueeze", name="UnsqueezedRows", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look at one Unsqueeze, and at the other rows of the same tensor."""
        first = _row(node, context)
        source = None if first is None else first.gather.inputs[0]
        if first is None or source is None or first.place == first.axis:
            return None  # merge-reshapes: a Gather with a vector
        rows = [row for row in _rows(source, context) if row.axis == first.axis]
        rows = [row for row in rows if row.place == first.place]
        if len(rows) < 2 or not all(_first(node, row.view, context) for row in rows):
            return None
        place = first.place if first.place <= first.axis else first.place + 1
        axis = first.axis + (place <= first.axis)
        whole = view("Unsqueeze", source, [place], context)
        picked = [
            NewNode("Gather", [whole.output(), row.gather.inputs[1]], {"axis": axis})
            for row in rows
        ]
        values = {
            row.view.outputs[0]: made.output() for row, made in zip(rows, picked, strict=True)
        }
        others = [row.view for row in rows if row.view is not node]
        matched = [*(row.gather for row in rows), *others, node]
        reason = f"The tensor gets the new axis once instead of each of {len(rows)} rows."
        return Replacement(matched, values, reason, nodes=[whole, *picked])


def _rows(source: ir.Value, context: Context) -> Iterator[_Row]:
    """The rows of a tensor that get a new axis."""
    for use in source.uses():
        gather = use.node
        if use.idx != 0 or gather.op_type != "Gather" or gather.domain:
            continue
        readers = [*gather.outputs[0].uses()]
        row = _row(readers[0].node, context) if len(readers) == 1 else None
        if row is not None:
            yield row


def _row(view: ir.Node, context: Context) -> _Row | None:
    if view.op_type != "Unsqueeze" or view.domain:
        return None
    gather, axes = producer_of(view.inputs[0], "Gather"), context.parameter(view, "axes", 1)
    if gather is None or axes is None or len(axes) != 1 or gather.graph is not view.graph:
        return None
    rank, index = context.rank(gather.inputs[0]), gather.inputs[1]
    if rank is None or context.rank(index) != 0 or not context.is_constant(index):
        return None
    if not context.single_use(gather.outputs[0]):
        return None
    axis = gather.attributes.get_int("axis", 0) % rank
    return _Row(gather, view, axis, axes[0] % rank)


def _first(node: ir.Node, other: ir.Node, context: Context) -> bool:
    return other is node or context.precedes(node, other)
