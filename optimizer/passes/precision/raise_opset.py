"""A model of operator set 11 or 12 in 13."""

from __future__ import annotations

from typing import cast

import onnx_ir as ir

from optimizer.model.graph import walk_nodes
from optimizer.passes.draft import Draft, NotHere
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement

OLDEST, OPSET = 11, 13
_READ_SINCE = {"ReduceSum": "axes", "Split": "split", "Squeeze": "axes", "Unsqueeze": "axes"}
"""Attributes that are inputs in operator set 13."""
_ALONG_AN_AXIS = ("Hardmax", "LogSoftmax", "Softmax")
"""In operator set 13 they run along one axis, before over all from it on; the default moved."""


@register
class RaiseOpset(Pass):
    """Raise a model to opset 13.

    What it does:
        Node by node, what is written otherwise in opset 13 is written so that it means the same in
        both: Squeeze and Unsqueeze as Reshape, Split into parts, Softmax with its axis, Dropout
        without a ratio. When nothing is left in the way, the model imports opset 13, in which
        quantized weights may have a scale a channel.
    Before:
        opset 12: x → Unsqueeze<axes> → y
    After:
        opset 13: x → Reshape → y
    When it is safe:
        The model is of opset 11 or 12; between older ones and these many operators changed their
        form. At most one size of what is reshaped is free and moves. A Softmax runs along the last
        axis, a ReduceSum over all.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator changelog, versions 11 to 13.
    """

    id = "raise-opset"
    exactness = "exact"
    order = 10

    @rule("Squeeze", "Unsqueeze", name="AxesAsShape")
    def reshaped(self, node: ir.Node, context: Context) -> Outcome:
        """A Squeeze or Unsqueeze with an attribute."""
        if not _is_between(context) or "axes" not in node.attributes:
            return None
        before, after = node.inputs[0], node.outputs[0]
        if before is None or before.shape is None or after.shape is None:
            return Declined("The rank of its input is not known")
        draft = Draft(context.opset(), node.name or node.op_type)
        try:
            made = draft.reshape(before, *_target(before.shape, after.shape))
        except NotHere as why:
            return Declined(str(why))
        reason = f"{node.op_type} gives the same elements another shape, in every operator set."
        return Replacement([node], {after: made}, reason, tuple(draft.made))

    @rule("Split", name="EqualParts")
    def split(self, node: ir.Node, context: Context) -> Outcome:
        """A Split with sizes."""
        sizes = context.integers(node, "split") if _is_between(context) else None
        if not sizes or "split" not in node.attributes:
            return None
        if len(set(sizes)) == 1:
            reason = "Its parts are equal, which is what Split does without sizes."
            return Replacement([node], {}, reason, attributes={node: {"split": None}})
        axis = context.attribute(node, "axis")
        assert isinstance(axis, int)
        draft = Draft(context.opset(), node.name or node.op_type)
        assert node.inputs[0] is not None
        ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
        parts = {
            value: draft.slice(node.inputs[0], [axis], [end - size], [end])
            for value, size, end in zip(node.outputs, sizes, ends, strict=True)
        }
        reason = "Each part is a Slice, which is written alike in both operator sets."
        return Replacement([node], parts, reason, tuple(draft.made))

    @rule(*_ALONG_AN_AXIS, name="AxisWritten")
    def axis(self, node: ir.Node, context: Context) -> Outcome:
        """A Softmax along the last axis that does not say so."""
        rank = context.rank(node.inputs[0])
        if not _is_between(context) or "axis" in node.attributes or rank != 2:
            return None
        reason = "It runs along the second of two axes: the default is written out."
        return Replacement([node], {}, reason, attributes={node: {"axis": 1}})

    @rule("Dropout", name="RatioLeftOut")
    def dropout(self, node: ir.Node, context: Context) -> Outcome:
        """A Dropout with a ratio, which nothing reads outside of training."""
        if not _is_between(context) or context.opset() > 11 or "ratio" not in node.attributes:
            return None
        reason = "Nothing is dropped outside of training, whatever the ratio."
        return Replacement([node], {}, reason, attributes={node: {"ratio": None}})

    @rule(ANY, name="NewerOpset")
    def raised(self, node: ir.Node, context: Context) -> Outcome:
        """Any node, when nothing in the model is in the way."""
        graph = node.graph
        if not isinstance(graph, ir.Graph) or context.opset() >= OPSET:
            return None
        if len(list(context.scopes(graph))) > 1:
            return None
        if not _is_between(context):
            reason = f"Before operator set {OLDEST} operators changed their form"
            return Declined(reason) if graph[0] is node else None
        if _changed(node, context):
            return Declined(f"It means something else in operator set {OPSET}")
        if _obstacle(graph, context):
            return None
        reason = f"All operators of the model mean the same in operator set {OPSET}."
        return Replacement([node], {}, reason, opsets={"": OPSET})


def _obstacle(graph: ir.Graph, context: Context) -> bool:
    """Whether a node is in the way; the one that was last found is asked first."""
    last = cast("ir.Node | None", context.memory.get("obstacle"))
    if last is None or last.graph is None or not _changed(last, context):
        last = next((one for one in walk_nodes(graph) if _changed(one, context)), None)
        context.memory["obstacle"] = last
    return last is not None


def _is_between(context: Context) -> bool:
    return OLDEST <= context.opset() < OPSET


def _changed(node: ir.Node, context: Context) -> bool:
    """Whether a node would mean something else in operator set 13."""
    if node.domain:
        return False
    if node.op_type in _ALONG_AN_AXIS:
        rank, axis = context.rank(node.inputs[0]), node.attributes.get("axis")
        return axis is None or axis.as_int() not in (-1, -1 if rank is None else rank - 1)
    if node.op_type == "Dropout":
        return "ratio" in node.attributes
    return _READ_SINCE.get(node.op_type, "") in node.attributes


def _target(before: ir.Shape, after: ir.Shape) -> tuple[int, ...]:
    """The sizes that a Reshape is given; 0 copies a free one that stays at its place.

    Raises:
        NotHere: more than one that moves is free, or a size is 0.
    """
    if 0 in after:
        raise NotHere("It has no elements")
    target: list[int] = []
    for place, size in enumerate(after):
        if isinstance(size, int):
            target.append(size)
        else:
            kept = place < len(before) and size.value is not None and before[place] == size
            target.append(0 if kept else -1)
    if target.count(-1) > 1:
        raise NotHere("More than one of its sizes is free in the file")
    return tuple(target)
