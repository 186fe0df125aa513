"""Sequences that only carry the parts of a split tensor."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)


@register
class SplitSequences(Pass):
    """Split directly instead of through a sequence.

    What it does:
        SplitToSequence followed by SequenceAt with constant places becomes one Split.
    Before:
        x → SplitToSequence → SequenceAt(0), SequenceAt(1), SequenceAt(2)
    After:
        x → Split → three outputs
    When it is safe:
        The number of parts and their sizes are constant, every part is picked at a constant place,
        and the sequence is used for nothing else.
    Numerics:
        Bit-identical: no element is computed.
    Source:
        ONNX operator specification, SplitToSequence, SequenceAt and Split.
    """

    id = "split-sequences"
    exactness = "exact"
    order = 26

    @rule("SplitToSequence", name="SplitToSequenceAt")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A sequence that is only picked apart again."""
        data, sequence = node.inputs[0], node.outputs[0]
        if data is None or context.opset() < 13 or sequence.is_graph_output():
            return None
        if len(node.inputs) < 2 or context.attribute(node, "keepdims") == 0:
            return None
        sizes = _sizes(node, data, context)
        if sizes is None:
            return Declined("The sizes of the parts are not constant.")
        values: dict[ir.Value, Operand] = {}
        operand = NewInitializer.ints(sizes, f"{data.name}_split")
        axis = context.attribute(node, "axis") or 0
        split = NewNode("Split", [data, operand], {"axis": axis}, outputs=len(sizes))
        picks = [use.node for use in sequence.uses()]
        for pick in picks:
            place = context.scalar(pick.inputs[1]) if pick.op_type == "SequenceAt" else None
            if (
                place is None
                or pick.graph is not node.graph
                or not -len(sizes) <= place < len(sizes)
            ):
                return Declined("The sequence is used for more than picking parts.", (pick,))
            values[pick.outputs[0]] = split.output(int(place) % len(sizes))
        if not picks:
            return None
        reason = f"The {len(sizes)} parts are picked at constant places."
        return Replacement([node, *picks], values, reason, [split])


def _sizes(node: ir.Node, data: ir.Value, context: Context) -> list[int] | None:
    """Sizes of the parts along the axis."""
    given = context.ints(node.inputs[1])
    if given is None:
        return None
    if context.rank(node.inputs[1]) == 1:
        return given
    axis, dims = node.attributes.get_int("axis", 0), context.symbolic.shape(data)
    total = dims[axis] if dims is not None else None
    if not isinstance(total, int) or not given or given[0] <= 0 or total // given[0] > 1024:
        return None
    parts = [given[0]] * (total // given[0])
    return parts + ([total % given[0]] if total % given[0] else [])
