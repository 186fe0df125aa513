"""Algebraic identities: operands that change nothing, operators that undo each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement, producer_of

NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1, "Pow": 1}
"""The element that leaves the other operand as it is; for Sub, Div and Pow only on the right."""
_COMMUTES = frozenset({"Add", "Mul"})
_SELF_INVERSE = ("Neg", "Not", "BitwiseNot")
_ROUNDING = ("Ceil", "Floor", "Round")
_IDEMPOTENT = ("Abs", "Relu", "Sign", *_ROUNDING)
_NOT_NEGATIVE = ("Exp", "Sigmoid", "Softmax")
"""Never below 0, and never -0."""
_LOGIC = {"And": True, "Or": False, "Xor": False}


@dataclass(frozen=True, slots=True)
class Neutral:
    """A constant operand with a single, neutral element, and the operand it leaves as it is."""

    kept: ir.Value
    constant: ir.Value | None
    element: float | int | bool


@register
class SimplifyAlgebra(Pass):
    """Remove arithmetic that changes nothing.

    What it does:
        Takes out x + 0 (integers), x - 0, x * 1, x / 1, x ^ 1, `x and true`, `x or false`, --x,
        not not x, the second of two operators that are idempotent: Relu, Abs, Sign, rounding, and
        Relu and Abs of an exponential, Sigmoid or Softmax.
        x + (-y) becomes x - y, and x - (-y) becomes x + y.
    Before:
        x → Mul(1) → Relu → Relu → Softmax
    After:
        x → Relu → Softmax
    When it is safe:
        The constant is one number, or as large as x and the same number everywhere; it does not
        broadcast x to another shape. Never x * 0, x - x or x / x, which are
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
        if node.op_type in ("Abs", "Relu"):
            kinds = (node.op_type, *_NOT_NEGATIVE)
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

    @rule("Add", "Sub", name="SumWithNeg", reach=2)
    def sum_with_neg(self, node: ir.Node, context: Context) -> Outcome:
        """A sign that the sum or difference can take along."""
        if context.opset() < 7:  # operands are told apart by attributes
            return None
        first, second = node.inputs
        places = ((first, second), (second, first)) if node.op_type == "Add" else ((first, second),)
        for kept, value in places:
            above = producer_of(value, "Neg")
            if value is None or above is None or not context.single_use(value):
                continue
            opposite = "Sub" if node.op_type == "Add" else "Add"
            made = NewNode(opposite, [kept, above.inputs[0]], dict(node.attributes))
            return Replacement.by(made, f"{opposite} takes the sign along.", above, node)
        return None


@register
class EliminateAddZero(Pass):
    """Remove the addition of zero.

    What it does:
        Takes out x + 0 and x - (-0) in floating point.
    Before:
        x → Add(0) → Relu
    After:
        x → Relu
    When it is safe:
        The constant is one number, or as large as x and the same number everywhere; it does not
        broadcast x to another shape.
    Numerics:
        Equal numbers; where x is -0 the sum was +0 and becomes -0. No comparison sees that, but
        1/x does.
    Source:
        IEEE 754: -0, not +0, is the neutral element of addition.
    """

    id = "eliminate-add-zero"
    exactness = "reassociates"
    order = 61

    @rule("Add", "Sub", name="AddOfZero")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """An addition that only changes the sign of zero."""
        found = neutral_operand(node, context)
        if found is None or not adds_positive_zero(node, found):
            return None
        if not keeps_shape(node, found, context):
            return Declined("The constant 0 broadcasts the other operand to a new shape.")
        return Replacement([node], {node.outputs[0]: found.kept}, "x + 0 equals x.")


def neutral_operand(node: ir.Node, context: Context) -> Neutral | None:
    """The neutral operand of an arithmetic node, if it has one."""
    first, second = node.inputs[0], node.inputs[1]
    if first is None or second is None:
        return None
    if context.is_constant(second):
        kept, constant = first, second
    elif node.op_type in _COMMUTES and context.is_constant(first):
        kept, constant = second, first
    else:
        return None
    element = context.scalar(constant)
    if element is None and context.same_shape(kept, constant):
        element = _repeated(constant, NEUTRAL[node.op_type], context)
    if element is None or element != NEUTRAL[node.op_type] or kept.dtype is None:
        return None
    return Neutral(kept, constant, element)


def _repeated(constant: ir.Value, wanted: int, context: Context) -> float | int | bool | None:
    """The one number that all elements of a constant are, if that is the wanted one.

    Of an operand as large as the other one alone: a scale or a bias that is broadcast is a part of
    blocks that other passes recognize.
    """
    data = context.array(constant)
    if data is None or not data.size or data.flat[0] != wanted or (data != wanted).any():
        return None
    mixed = data.dtype.kind == "f" and wanted == 0 and np.signbit(data).any()
    return None if mixed else data.flat[0].item()


def adds_positive_zero(node: ir.Node, found: Neutral) -> bool:
    """Whether the node adds +0 in floating point, which turns -0 into +0 and is not a copy."""
    if node.op_type not in ("Add", "Sub") or not isinstance(found.element, float):
        return False
    negative = math.copysign(1.0, found.element) < 0
    return negative == (node.op_type == "Sub")


def keeps_shape(node: ir.Node, found: Neutral, context: Context) -> bool:
    """Whether broadcasting with the constant leaves the shape as it is."""
    rank, width = context.rank(found.kept), context.rank(found.constant)
    if rank is not None and width is not None and width <= rank:
        shape = np.ones(0) if found.constant is None else found.constant.shape
        if shape is not None and all(size == 1 for size in shape):
            return True
    return width == 0 or context.same_shape(found.kept, node.outputs[0])
