"""Reductions as data: along which axes, and whether those stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.rules import Context, NewInitializer, NewNode, Operand, given

REDUCTIONS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)
EXTREMES = ("ArgMax", "ArgMin")
_KEEPS_NONE = "noop_with_empty_axes"


@dataclass(frozen=True, slots=True)
class Reduction:
    """One node that shrinks axes.

    Attributes:
        node: the node.
        axes: from the front, sorted.
        keep: whether they stay, as axes of size 1.
        rank: of what is reduced.
    """

    node: ir.Node
    axes: tuple[int, ...]
    keep: bool
    rank: int

    def along(
        self,
        axes: Sequence[int],
        source: Operand | None,
        opset: int,
        *,
        keep: bool,
        operator: str = "",
    ) -> NewNode:
        """The same reduction, or that of another operator, of something else, along other axes."""
        name = operator or self.node.op_type
        kept = {key: value for key, value in self.node.attributes.items() if key not in _AXES}
        attributes: dict[str, object] = {**kept, "keepdims": int(keep)}
        if name in EXTREMES:
            return NewNode(name, [source], {**attributes, "axis": axes[0]})
        if opset >= (13 if name == "ReduceSum" else 18):
            listed = NewInitializer.ints(axes, f"{self.node.outputs[0].name}_axes")
            return NewNode(name, [source, listed], attributes)
        return NewNode(name, [source], {**attributes, "axes": list(axes)})


_AXES = frozenset({"axes", "axis", "keepdims", _KEEPS_NONE})


def reduction_of(node: ir.Node | None, context: Context) -> Reduction | None:
    """What a node reduces; None where it is no reduction, or its axes vary."""
    if node is None or node.domain or node.op_type not in (*REDUCTIONS, *EXTREMES):
        return None
    rank = context.rank(node.inputs[0])
    axes = None if not rank else _axes(node, rank, context)
    if rank is None or not axes:
        return None
    keep = bool(context.attribute(node, "keepdims"))
    return Reduction(node, tuple(sorted({axis % rank for axis in axes})), keep, rank)


def _axes(node: ir.Node, rank: int, context: Context) -> list[int] | None:
    """Axes as they are written; [] where nothing is reduced."""
    if node.op_type in EXTREMES:
        axis = context.attribute(node, "axis")
        return [axis] if isinstance(axis, int) else None
    listed = "axes" in node.attributes or given(node, 1) is not None
    axes = context.parameter(node, "axes", 1) if listed else []
    if axes is None or axes:
        return axes
    return [] if context.attribute(node, _KEEPS_NONE) else [*range(rank)]
