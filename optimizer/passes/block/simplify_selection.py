"""Where, comparisons and logic whose outcome is known, or that can be said more shortly."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement, producer_of

_OPPOSITE = {
    "Greater": "LessOrEqual",
    "GreaterOrEqual": "Less",
    "Less": "GreaterOrEqual",
    "LessOrEqual": "Greater",
}
_OR_EQUAL_SINCE = 12
"""The operator set in which comparisons that include equality appear."""

_MOVES = ("Expand", "Identity", "Reshape", "Squeeze", "Tile", "Transpose", "Unsqueeze")
"""Operators that hand on elements of their first input."""
_MOST_MOVES = 4


@register
class SimplifySelection(Pass):
    """Simplify Where, comparisons and logic.

    What it does:
        A Where whose condition is constant, or whose two choices are the same value, is that
        choice; a choice that the same condition has made already is not made again. A Where of a
        Not swaps its choices; one of an And does without the side that is true everywhere, which
        only gives a shape. Comparing a boolean with true is that boolean, `x and x` is x, and Not
        of a comparison of integers is the opposite comparison.
    Before:
        c → Not → Where(·, a, b)
    After:
        Where(c, b, a)
    When it is safe:
        What stands in the place of a result certainly has its shape. Not of a comparison is left
        alone for floats: of two comparisons with NaN both are false. Nothing else reads the value
        of a Not or comparison that goes away.
    Numerics:
        Bit-identical: elements are chosen, never computed.
    Source:
        ONNX operator specification, Where, Not, Equal, Greater and Less; Boolean algebra.
    """

    id = "simplify-selection"
    exactness = "exact"
    order = 60

    @rule("Where", name="KnownChoice")
    def known(self, node: ir.Node, context: Context) -> Outcome:
        """One of the two choices, everywhere."""
        condition, first, second = node.inputs
        if first is second:
            return _is(node, first, context, "Both choices are the same value.")
        array = context.array(condition)
        if array is None or array.size == 0 or array.all() != array.any():
            return None
        kept, which = (first, "true") if array.all() else (second, "false")
        return _is(node, kept, context, f"The condition is {which} everywhere.")

    @rule("Where", name="SameConditionAgain", reach=2)
    def again(self, node: ir.Node, context: Context) -> Outcome:
        """A choice between what the same condition has chosen."""
        condition, *choices = node.inputs
        for place, value in enumerate(choices):
            above = producer_of(value, "Where")
            if above is None or value is None or above.inputs[0] is not condition:
                continue
            kept = above.inputs[1 + place]
            if kept is None or not context.same_shape(kept, value):
                return Declined("The choice may have another shape", (above,))
            reason = "The same condition has chosen before: of that choice one side is never seen."
            return Replacement([above, node], {}, reason, inputs={(node, 1 + place): kept})
        return None

    @rule("Where", name="ChoiceByNot", reach=2)
    def by_not(self, node: ir.Node, context: Context) -> Outcome:
        """Choices that are swapped instead."""
        inverse = producer_of(node.inputs[0], "Not")
        if inverse is None:
            return None
        if blocked := shared(inverse.outputs[0], node):
            return blocked
        _, first, second = node.inputs
        made = NewNode("Where", [inverse.inputs[0], second, first])
        reason = "Where the condition does not hold, the other choice is taken."
        return Replacement.by(made, reason, inverse, node)

    @rule("Where", name="TrueEverywhere", reach=2 + _MOST_MOVES)
    def by_and(self, node: ir.Node, context: Context) -> Outcome:
        """A condition one side of which only gives it its shape."""
        both = producer_of(node.inputs[0], "And")
        for place in (0, 1) if both is not None else ():
            assert both is not None
            if not _is_true(both.inputs[place], context):
                continue
            kept = both.inputs[1 - place]
            if not any(
                context.same_shape(value, node.outputs[0])
                for value in (kept, *node.inputs[1:])
                if value is not None
            ):
                return Declined("The result may have another shape without one side", (both,))
            reason = "One side is true everywhere: the other one decides."
            return Replacement([both, node], {}, reason, inputs={(node, 0): kept})
        return None

    @rule("Not", name="NotOfComparison", reach=2)
    def opposite(self, node: ir.Node, context: Context) -> Outcome:
        """The opposite comparison."""
        compared = producer_of(node.inputs[0], *_OPPOSITE)
        value = None if compared is None else compared.inputs[0]
        if compared is None or value is None or value.dtype is None:
            return None
        if not value.dtype.is_integer():
            return Declined("Of two opposite comparisons with NaN both are false", (compared,))
        if context.opset() < _OR_EQUAL_SINCE:
            return None
        if blocked := shared(compared.outputs[0], node):
            return blocked
        opposite = _OPPOSITE[compared.op_type]
        made = NewNode(opposite, compared.inputs)
        return Replacement.by(made, f"Not {compared.op_type} is {opposite}.", compared, node)

    @rule("And", "Or", "Equal", name="SameOrTrue")
    def logic(self, node: ir.Node, context: Context) -> Outcome:
        """`x and x`, `x == true`."""
        first, second = node.inputs
        if node.op_type != "Equal":
            return (
                _is(node, first, context, "Both sides are the same.") if first is second else None
            )
        for value, other in ((first, second), (second, first)):
            if value is None or value.dtype != ir.DataType.BOOL or context.is_constant(value):
                continue
            if context.scalar(other) is True:
                return _is(node, value, context, "It equals true where it is true.")
        return None


def _is_true(value: ir.Value | None, context: Context) -> bool:
    """Whether all elements are true, of a constant or of what is spread or moved of one."""
    for _ in range(_MOST_MOVES):
        array = context.array(value)
        if array is not None:
            return array.size > 0 and bool(array.all())
        above = producer_of(value, *_MOVES, "ConstantOfShape")
        if above is None:
            return False
        if above.op_type == "ConstantOfShape":
            filling = above.attributes.get_tensor("value")
            return filling is not None and bool(filling.numpy().all())
        value = above.inputs[0]
    return False


def _is(node: ir.Node, value: ir.Value | None, context: Context, reason: str) -> Outcome:
    """The value in place of the node's result, where it has its shape."""
    if value is None:
        return None
    if not context.same_shape(value, node.outputs[0]):
        return Declined("The result may have another shape than what is chosen")
    return Replacement([node], {node.outputs[0]: value}, reason)
