"""Concats of Concats, and of parts that were cut out of one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.passes.block.ranges import Range, ranges_of
from optimizer.passes.draft import Draft
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    producer_of,
)


@register
class MergeConcats(Pass):
    """Merge Concats, and parts that come back together.

    What it does:
        A Concat whose operand is a Concat along the same axis takes over its operands. Neighboring
        operands that are the parts of one tensor in their order are that tensor, or one Slice
        of it.
    Before:
        x → Split → Concat(a, b) → Concat(·, z)
    After:
        Concat(x, z)
    When it is safe:
        Both Concats join along the same axis, and nothing else reads the inner one. Parts are all
        outputs of a Split along that axis, in order, or Slices along it alone, with constant
        bounds and step 1, each beginning where the one before ends; a Slice in their place is only
        made where nothing else reads them.
    Numerics:
        Bit-identical: data is moved, never computed.
    Source:
        ONNX operator specification, Concat, Split and Slice.
    """

    id = "merge-concats"
    exactness = "exact"
    order = 28

    @rule("Concat", name="ConcatOfConcat", reach=2)
    def nested(self, node: ir.Node, context: Context) -> Outcome:
        """A Concat that another one joins with more."""
        inner: list[ir.Node] = []
        operands: list[ir.Value | None] = []
        for value in node.inputs:
            above = producer_of(value, "Concat")
            if above is None or not _joins(above, node, context):
                operands.append(value)
            else:
                inner.append(above)
                operands.extend(above.inputs)
        if not inner:
            return None
        made = NewNode("Concat", operands, dict(node.attributes))
        reason = "All operands are joined along one axis at once."
        return Replacement.by(made, reason, *dict.fromkeys(inner), node)

    @rule("Concat", name="ConcatOfParts", reach=2)
    def parts(self, node: ir.Node, context: Context) -> Outcome:
        """Parts of one tensor, in their order."""
        axis = _axis(node, context)
        pieces = [] if axis is None else [_piece(v, axis, context) for v in node.inputs]
        if axis is None or not any(pieces):
            return None
        runs = _runs(node, pieces)
        if len(runs) == len(node.inputs):
            return None
        draft = Draft(context.opset(), node.outputs[0].name or "concat")
        operands: list[Operand | None] = [run.joined(axis, draft) for run in runs]
        first = operands[0]
        if len(operands) > 1 or first is None:
            first = draft.new("Concat", *operands, axis=axis)
        reason = "Parts of one tensor come back together in their order."
        matched = dict.fromkeys([*(n for run in runs for n in run.cut), node])
        return Replacement([*matched], {node.outputs[0]: first}, reason, draft.made)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of elements along the axis.

    Attributes:
        source: what it was cut out of.
        taken: which elements of the source.
        size: elements of the source along the axis.
        node: what cuts it out.
        alone: whether nothing is left of `node` once the piece is not read here.
    """

    source: ir.Value
    taken: Range
    size: int | None
    node: ir.Node
    alone: bool


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighboring operands that are one.

    Attributes:
        values: the operands.
        pieces: what they are; empty for an operand that stays as it is.
    """

    values: Sequence[ir.Value | None]
    pieces: Sequence[_Piece] = ()

    @property
    def cut(self) -> list[ir.Node]:
        """The nodes that made the pieces."""
        return [piece.node for piece in self.pieces] if len(self.values) > 1 else []

    def joined(self, axis: int, draft: Draft) -> Operand | None:
        """The one operand in their place."""
        if len(self.values) == 1:
            return self.values[0]
        first, last = self.pieces[0], self.pieces[-1]
        if _is_whole(self.pieces):
            return first.source
        return draft.slice(first.source, [axis], [first.taken.start], [last.taken.stop])


def _joins(above: ir.Node, node: ir.Node, context: Context) -> bool:
    """Whether a Concat only makes an operand of another one along the same axis."""
    if above.graph is not node.graph or not context.single_use(above.outputs[0]):
        return False
    axis = _axis(node, context)
    return axis is not None and _axis(above, context) == axis


def _axis(node: ir.Node, context: Context) -> int | None:
    """The axis from the front; None where it would need a rank that is not known."""
    axis, rank = context.attribute(node, "axis"), context.rank(node.outputs[0])
    if not isinstance(axis, int):
        return 1 if context.opset() < 4 else None
    return axis if axis >= 0 else None if rank is None else axis + rank


def _piece(value: ir.Value | None, axis: int, context: Context) -> _Piece | None:
    node = producer_of(value, "Slice", "Split")
    source = None if node is None else node.inputs[0]
    if value is None or node is None or source is None:
        return None
    shape = context.symbolic.shape(source)
    if shape is None or axis >= len(shape):
        return None
    total = shape[axis]
    size = total if isinstance(total, int) else None
    if node.op_type == "Split":
        taken = _part(node, value, axis, context)
        alone = False
    else:
        ranges = ranges_of(node, context)
        taken = ranges[axis] if ranges is not None and set(ranges) == {axis} else None
        alone = context.single_use(value)
        if taken is not None and size is not None:
            taken = taken.within(size)
    if taken is None or taken.step != 1 or not taken.from_front:
        return None
    return _Piece(source, taken, size, node, alone)


def _part(node: ir.Node, value: ir.Value, axis: int, context: Context) -> Range | None:
    """What an output of a Split along the axis is of its input, by the sizes of the outputs."""
    shape, index = context.symbolic.shape(value), value.index() or 0
    split_axis = context.attribute(node, "axis") or 0
    if shape is None or not isinstance(split_axis, int) or split_axis % len(shape) != axis:
        return None
    start = 0
    for position, output in enumerate(node.outputs):
        dims = context.symbolic.shape(output)
        size = None if dims is None else dims[axis]
        if not isinstance(size, int):
            return None
        if position == index:
            return Range(start, start + size)
        start += size
    return None


def _runs(node: ir.Node, pieces: Sequence[_Piece | None]) -> list[_Run]:
    """The operands, neighbors that are one taken together."""
    groups: list[tuple[list[ir.Value | None], list[_Piece]]] = []
    for value, piece in zip(node.inputs, pieces, strict=True):
        last = groups[-1][1][-1] if groups and groups[-1][1] else None
        if piece is not None and last is not None and _follows(last, piece):
            groups[-1][0].append(value)
            groups[-1][1].append(piece)
        else:
            groups.append(([value], [piece] if piece is not None else []))
    runs: list[_Run] = []
    for values, found in groups:
        gains = _is_whole(found) or all(piece.alone for piece in found)
        if len(values) > 1 and gains:
            runs.append(_Run(values, found))
        else:
            runs.extend(_Run([value]) for value in values)
    return runs


def _follows(last: _Piece, piece: _Piece) -> bool:
    same = last.source is piece.source and last.node.op_type == piece.node.op_type
    return same and last.taken.stop == piece.taken.start


def _is_whole(pieces: Sequence[_Piece]) -> bool:
    if not pieces or pieces[0].size is None:
        return False
    return pieces[0].taken.start == 0 and pieces[-1].taken.stop == pieces[0].size
