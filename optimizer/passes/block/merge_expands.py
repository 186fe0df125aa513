"""Expands in a row."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators.call import in_numbers
from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    producer_of,
)


@register
class MergeExpands(Pass):
    """Merge Expands in a row.

    What it does:
        An Expand of what another one has expanded becomes one Expand.
    Before:
        x[1, 4] → Expand(3, 4) → Expand(2, 3, 4)
    After:
        x[1, 4] → Expand(2, 3, 4)
    When it is safe:
        The second shape is certainly that of the result, or all sizes of the result are known.
        Nothing else reads the value in between.
    Numerics:
        Bit-identical: data is repeated, never computed.
    Source:
        ONNX operator specification, Expand.
    """

    id = "merge-expands"
    exactness = "exact"
    order = 29

    @rule("Expand", name="ExpandOfExpand", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """From the first value to the last shape at once."""
        above = producer_of(node.inputs[0], "Expand")
        shape = context.symbolic.shape(node.outputs[0])
        if above is None or shape is None:
            return None
        target: Operand | None = node.inputs[1]
        if context.symbolic.of(node.inputs[1]) != shape:
            sizes = in_numbers(shape)
            if sizes is None:
                return None
            target = NewInitializer.ints(sizes, f"{node.outputs[0].name}_shape")
        if blocked := shared(above.outputs[0], node):
            return blocked
        made = NewNode("Expand", [above.inputs[0], target], name=node.name)
        return Replacement.by(made, "The last shape is all that counts.", above, node)
