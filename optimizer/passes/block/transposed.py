"""Operators that work as well on a transposed tensor."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.operators.catalogue import BROADCASTING, UNARY
from optimizer.passes.block.reductions import REDUCTIONS, reduction_of
from optimizer.rules import Context, NewInitializer, NewNode, Operand, given

Perm = Sequence[int]

_AXIS = frozenset({"Concat", "LogSoftmax", "Softmax"})
ELEMENTWISE = (UNARY | BROADCASTING) - {"Identity"}
_MOVABLE = ELEMENTWISE | _AXIS | {"Clip", "Pad", "Slice", *REDUCTIONS}


def is_movable(node: ir.Node, context: Context) -> bool:
    """Whether `moved` can say how a node works on transposed data."""
    if node.domain or node.op_type not in _MOVABLE or len(node.outputs) != 1:
        return False
    name, rank = node.op_type, context.rank(node.outputs[0])
    if rank is None or rank < 2 or context.opset() < 7:
        return False
    if name in ELEMENTWISE:
        return all(value is not None for value in node.inputs)
    if name in ("LogSoftmax", "Softmax"):
        return context.opset() >= 13
    if name == "Pad":
        listed = context.parameter(node, "pads", 1)
        return listed is not None and len(listed) == 2 * rank and given(node, 3) is None
    if name == "Slice":
        return _slice_axes(node, rank, context) is not None
    if name in REDUCTIONS:
        found = reduction_of(node, context)
        return found is not None and found.keep
    return True


def data_inputs(node: ir.Node) -> int:
    """How many of a node's inputs are tensors that are transposed with its output."""
    return len(node.inputs) if node.op_type in ELEMENTWISE | {"Concat"} else 1


def moved(node: ir.Node, data: Sequence[Operand | None], perm: Perm, context: Context) -> NewNode:
    """The node that computes the transposed output of a movable one.

    Args:
        node: the node.
        data: its transposed data inputs.
        perm: for each axis of the new output the one of the old.
        context: of the rule that asks.
    """
    name, rank = node.op_type, len(perm)
    attributes: dict[str, object] = dict(node.attributes)
    inputs = [*data, *node.inputs[len(data) :]]
    if name in _AXIS:
        axis = context.attribute(node, "axis")
        assert isinstance(axis, int)
        attributes["axis"] = perm.index(axis % rank)
    elif name == "Pad":
        pads = context.parameter(node, "pads", 1) or []
        listed = [pads[half * rank + axis] for half in (0, 1) for axis in perm]
        if len(node.inputs) > 1:
            inputs[1] = NewInitializer.ints(listed, f"{node.outputs[0].name}_pads")
        else:
            attributes["pads"] = listed
    elif name == "Slice":
        axes = [perm.index(axis) for axis in _slice_axes(node, rank, context) or ()]
        if len(node.inputs) == 1:
            attributes["axes"] = axes
        else:
            inputs += [None] * (4 - len(inputs))
            inputs[3] = NewInitializer.ints(axes, f"{node.outputs[0].name}_axes")
    elif name in REDUCTIONS:
        found = reduction_of(node, context)
        assert found is not None
        axes = sorted(perm.index(axis) for axis in found.axes)
        return found.along(axes, data[0], context.opset(), keep=True)
    return NewNode(name, inputs, attributes, name=node.name)


def _slice_axes(node: ir.Node, rank: int, context: Context) -> list[int] | None:
    """Axes that a Slice takes parts of, from the front; None where they vary."""
    if "axes" in node.attributes or given(node, 3) is not None:
        axes = context.parameter(node, "axes", 3)
        return None if axes is None else [axis % rank for axis in axes]
    starts = context.parameter(node, "starts", 1)
    return None if starts is None else [*range(len(starts))]
