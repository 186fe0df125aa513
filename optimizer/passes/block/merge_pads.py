"""Pads in a row."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    given,
    producer_of,
)


@register
class MergePads(Pass):
    """Merge Pads in a row.

    What it does:
        A Pad of what another one has padded becomes one Pad.
    Before:
        x → Pad(1) → Pad(2)
    After:
        x → Pad(3)
    When it is safe:
        Both pad with the same constant, or both repeat the edge; pads are known, and nothing else
        reads the value in between. What one takes away on a side the other does not put back.
        Reflected elements are others the second time.
    Numerics:
        Bit-identical: data is moved, never computed.
    Source:
        ONNX operator specification, Pad, versions 2 to 25.
    """

    id = "merge-pads"
    exactness = "exact"
    order = 29

    @rule("Pad", name="PadOfPad", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """What is put around the second time joins the first."""
        above = producer_of(node.inputs[0], "Pad")
        if above is None or context.opset() < 2:
            return None
        mode = _mode(node, context)
        if mode != _mode(above, context) or mode not in ("constant", "edge"):
            return Declined("Both have to pad with a constant, or to repeat the edge", (above,))
        first, second = (context.parameter(one, "pads", 1) for one in (above, node))
        if first is None or second is None or given(above, 3) or given(node, 3):
            return None
        if len(first) != len(second):
            return None
        if mode == "constant" and not _same_filling(above, node, context):
            return Declined("They pad with different constants", (above,))
        least = 0 if mode == "edge" else None
        if any(not _adds_up(a, b, least) for a, b in zip(first, second, strict=True)):
            return Declined("One takes away what the other puts back", (above,))
        if blocked := shared(above.outputs[0], node):
            return blocked
        total = [a + b for a, b in zip(first, second, strict=True)]
        made = _padded(node, above.inputs[0], total, context)
        return Replacement.by(made, "Pads on the same sides add up.", above, node)


def _mode(node: ir.Node, context: Context) -> object:
    mode = context.attribute(node, "mode")
    return mode.decode() if isinstance(mode, bytes) else mode


def _adds_up(first: int, second: int, least: int | None) -> bool:
    """Whether two pads of a side are their sum: nothing of the data is taken away and put back."""
    if least is not None:
        return first >= least and second >= least
    return first >= 0 or second <= 0


def _same_filling(first: ir.Node, second: ir.Node, context: Context) -> bool:
    if context.opset() < 11:
        return context.attribute(first, "value") == context.attribute(second, "value")
    one, other = given(first, 2), given(second, 2)
    if one is other:
        return True
    numbers = [0 if value is None else context.scalar(value) for value in (one, other)]
    return None not in numbers and numbers[0] == numbers[1]


def _padded(node: ir.Node, source: ir.Value | None, pads: list[int], context: Context) -> NewNode:
    if context.opset() < 11:
        return NewNode("Pad", [source], {**node.attributes, "pads": pads}, name=node.name)
    listed = NewInitializer.ints(pads, f"{node.outputs[0].name}_pads")
    filling: list[Operand | None] = [*node.inputs[2:3]]
    return NewNode("Pad", [source, listed, *filling], node.attributes, name=node.name)
