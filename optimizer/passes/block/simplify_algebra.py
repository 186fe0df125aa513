"""Algebraic identities that hold bit for bit."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.neutral import (
    NEUTRAL,
    Neutral,
    adds_positive_zero,
    keeps_shape,
    neutral_operand,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, producer_of

_SELF_INVERSE = ("Neg", "Not", "BitwiseNot")
_ROUNDING = ("Ceil", "Floor", "Round")
_IDEMPOTENT = ("Abs", "Relu", "Sign", *_ROUNDING)
_LOGIC = {"And": True, "Or": False, "Xor": False}


@register
class SimplifyAlgebra(Pass):
    """Remove arithmetic that changes nothing.

    What it does:
        Takes out x + 0 (integers), x - 0, x * 1, x / 1, x ^ 1, `x and true`, `x or false`, --x,
        not not x, and the second of two operators that are idempotent: Relu, Abs, Sign, rounding.
    Before:
        x → Mul(1) → Relu → Relu → Softmax
    After:
        x → Relu → Softmax
    When it is safe:
        The constant does not broadcast x to another shape. Never x * 0, x - x or x / x, which are
        not constants where x is infinite, NaN or 0.
    Numerics:
        Bit-identical. x + 0 in floating point is left to `eliminate-add-zero`, because -0 + 0 is
        +0.
    Source:
        IEEE 754: -0 is neutral for addition, 1 for multiplication, division and power.
    """

    id = "simplify-algebra"
    exactness = "exact"
    order = 60

    @rule(*NEUTRAL, name="NeutralOperand")
    def neutral(self, node: ir.Node, context: Context) -> Outcome:
        """An operand that changes nothing."""
        found = neutral_operand(node, context)
        if found is None or adds_positive_zero(node, found):
            return None
        if not keeps_shape(node, found, context):
            return Declined(
                f"The constant {found.element} broadcasts the other operand to a new shape."
            )
        reason = f"{node.op_type} with {found.element} returns the other operand."
        return Replacement([node], {node.outputs[0]: found.kept}, reason)

    @rule(*_LOGIC, name="NeutralTruth")
    def truth(self, node: ir.Node, context: Context) -> Outcome:
        """`x and true`, `x or false`, `x xor false`."""
        for place in (0, 1):
            constant, kept = node.inputs[place], node.inputs[1 - place]
            if kept is None or not context.is_constant(constant):
                continue
            value = context.scalar(constant)
            if value is None or bool(value) != _LOGIC[node.op_type]:
                continue
            if keeps_shape(node, Neutral(kept, constant, value), context):
                reason = f"{node.op_type} with {bool(value)} returns the other operand."
                return Replacement([node], {node.outputs[0]: kept}, reason)
        return None

    @rule(*_SELF_INVERSE, name="SelfInversePair", reach=2)
    def self_inverse(self, node: ir.Node, context: Context) -> Outcome:
        """--x, not not x."""
        above = producer_of(node.inputs[0], node.op_type)
        if above is None or above.inputs[0] is None:
            return None
        reason = f"{node.op_type} undoes itself."
        return Replacement([above, node], {node.outputs[0]: above.inputs[0]}, reason)

    @rule(*_IDEMPOTENT, name="IdempotentPair", reach=2)
    def idempotent(self, node: ir.Node, context: Context) -> Outcome:
        """The second application of an operator that then changes nothing."""
        kinds = _ROUNDING if node.op_type in _ROUNDING else (node.op_type,)
        above = producer_of(node.inputs[0], *kinds)
        if above is None:
            return None
        reason = f"After {above.op_type}, {node.op_type} changes nothing."
        return Replacement([node], {node.outputs[0]: above.outputs[0]}, reason)

    @rule("Abs", name="AbsOfNeg", reach=2)
    def abs_of_neg(self, node: ir.Node, context: Context) -> Outcome:
        """|-x| is |x|."""
        above = producer_of(node.inputs[0], "Neg")
        source = None if above is None else above.inputs[0]
        if above is None or source is None or not context.single_use(above.outputs[0]):
            return None
        return Replacement(
            [above], {above.outputs[0]: source}, "The absolute value ignores the sign."
        )
