"""Arithmetic that a cheaper operator does as well."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.simplify_algebra import Neutral, keeps_shape
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
    producer_of,
)

_POWERS = {0.5: "Sqrt", -1.0: "Reciprocal"}
_FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16})
_SIGNED = ("Mul", "Div")


@register
class ReduceStrength(Pass):
    """Reduce the strength of arithmetic.

    What it does:
        x ^ 0.5 becomes Sqrt, x ^ -1 Reciprocal, x * -1 and x / -1 Neg. x * (1 / y) becomes x / y
        and x * y ^ -0.5 becomes x / √y, which ONNX Runtime finds a normalization by. The sign of a
        factor goes into a constant that it is multiplied or divided by; two signs of a product
        cancel. The logarithm of Softmax becomes LogSoftmax, a LogSoftmax of LogSoftmax goes away.
    Before:
        v → Sqrt → Reciprocal → Mul(x, ·)
    After:
        v → Sqrt → Div(x, ·)
    When it is safe:
        The exponent or factor is a constant of one element that does not broadcast x to another
        shape; the element type is float, double or float16. Nothing else reads the value in
        between.
    Numerics:
        The same mathematics. The power of -∞ and the sign of a zero's root are those of Sqrt; a
        quotient is rounded once, not twice; a logarithm of a vanished Softmax is no longer -∞.
    Source:
        Allen, Cocke and Kennedy 1981, Reduction of operator strength; IEEE 754.
    """

    id = "reduce-strength"
    exactness = "reassociates"
    order = 88

    @rule("Pow", name="PowerByRoot")
    def power(self, node: ir.Node, context: Context) -> Outcome:
        """A power that has an operator of its own."""
        base, exponent = node.inputs[0], context.scalar(node.inputs[1])
        operator = _POWERS.get(float(exponent)) if isinstance(exponent, int | float) else None
        if operator is None or base is None or base.dtype not in _FLOATS:
            return None
        if not keeps_shape(node, Neutral(base, node.inputs[1], exponent or 0), context):
            return Declined("The exponent broadcasts the base to a new shape")
        made = NewNode(operator, [base])
        return Replacement.by(made, f"A power of {exponent:g} is {operator}.", node)

    @rule(*_SIGNED, name="MinusOne")
    def minus_one(self, node: ir.Node, context: Context) -> Outcome:
        """A factor of -1."""
        found = _with_number(node, context)
        if found is None or found.element != -1 or found.kept.dtype not in _FLOATS:
            return None
        if not keeps_shape(node, found, context):
            return None
        made = NewNode("Neg", [found.kept])
        return Replacement.by(made, f"{node.op_type} with -1 changes the sign.", node)

    @rule("Mul", name="ProductWithReciprocal", reach=2)
    def quotient(self, node: ir.Node, context: Context) -> Outcome:
        """A product with one over something."""
        for place in (0, 1):
            above = producer_of(node.inputs[place], "Reciprocal")
            other = node.inputs[1 - place]
            if above is None or other is None or context.opset() < 7:
                continue
            blocked = shared(above.outputs[0], node)
            if blocked is not None:
                return blocked
            made = NewNode("Div", [other, above.inputs[0]])
            return Replacement.by(made, "x times 1 / y is x / y.", above, node)
        return None

    @rule("Mul", name="ProductWithInverseRoot", reach=2)
    def inverse_root(self, node: ir.Node, context: Context) -> Outcome:
        """A product with one over a root, written as a power."""
        for place in (0, 1):
            above, other = producer_of(node.inputs[place], "Pow"), node.inputs[1 - place]
            if above is None or other is None or context.opset() < 7:
                continue
            base, exponent = above.inputs[0], context.scalar(above.inputs[1])
            if exponent != -0.5 or base is None or base.dtype not in _FLOATS:
                continue
            if not keeps_shape(above, Neutral(base, above.inputs[1], -0.5), context):
                return Declined("The exponent broadcasts the base to a new shape")
            blocked = shared(above.outputs[0], node)
            if blocked is not None:
                return blocked
            root = NewNode("Sqrt", [base])
            made = NewNode("Div", [other, root.output()])
            values: dict[ir.Value, Operand] = {node.outputs[0]: made.output()}
            return Replacement([above, node], values, "x times y ^ -0.5 is x / √y.", [root, made])
        return None

    @rule(*_SIGNED, name="FactorWithSign", reach=2)
    def sign(self, node: ir.Node, context: Context) -> Outcome:
        """Signs that a constant takes, or that cancel."""
        above = [producer_of(value, "Neg") for value in node.inputs]
        negated = [one for one in above if one is not None and context.single_use(one.outputs[0])]
        if not negated or context.opset() < 7:
            return None
        if len(negated) == 2 and negated[0] is not negated[1]:
            made = NewNode(node.op_type, [one.inputs[0] for one in negated])
            return Replacement.by(made, "The signs of both factors cancel.", *negated, node)
        place = above.index(negated[0])
        other = node.inputs[1 - place]
        data = context.array(other)
        if other is None or data is None or data.dtype.kind != "f":
            return None
        constant = NewInitializer.of(-data, other.name or "factor")
        operands: list[Operand | None] = [negated[0].inputs[0], constant]
        made = NewNode(node.op_type, operands if place == 0 else operands[::-1])
        return Replacement.by(made, "The constant takes the sign along.", negated[0], node)

    @rule("Log", "LogSoftmax", name="LogOfSoftmax", reach=2)
    def log_softmax(self, node: ir.Node, context: Context) -> Outcome:
        """The logarithm of a Softmax, and a LogSoftmax, whose exponentials add up to 1 already."""
        wanted = "Softmax" if node.op_type == "Log" else "LogSoftmax"
        above = producer_of(node.inputs[0], wanted)
        if above is None:
            return None
        axis = context.attribute(above, "axis")
        if node.op_type == "LogSoftmax":
            if context.attribute(node, "axis") != axis:
                return Declined("The two run along different axes", (above,))
            reason = "The exponentials of a LogSoftmax add up to 1: its LogSoftmax is itself."
            return Replacement([node], {node.outputs[0]: above.outputs[0]}, reason)
        blocked = shared(above.outputs[0], node)
        if blocked is not None:
            return blocked
        made = NewNode("LogSoftmax", above.inputs[:1], {"axis": axis})
        return Replacement.by(made, "LogSoftmax is the logarithm of Softmax.", above, node)


@register
class ReplaceDivision(Pass):
    """Multiply instead of dividing by a power of two.

    What it does:
        x / c, where all elements of c are powers of two, becomes x * (1 / c).
    Before:
        x → Div(8) → Softmax
    After:
        x → Mul(0.125) → Softmax
    When it is safe:
        The divisor is constant, its inverse is neither subnormal nor infinite; the element type
        is float, double or float16.
    Numerics:
        Bit-identical: the inverse of a power of two is exact.
    Source:
        IEEE 754; LLVM, InstCombine, foldFDivConstantDivisor.
    """

    id = "replace-division"
    exactness = "exact"
    order = 89
    presets = ()

    @rule("Div", name="DivisionByPowerOfTwo")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look at one Div."""
        source, divisor = node.inputs
        data = context.array(divisor)
        if source is None or source.dtype not in _FLOATS or divisor is None or data is None:
            return None
        if context.is_constant(source) or context.opset() < 7 or not _invertible(data):
            return None
        inverse = NewInitializer.of((1 / data).astype(data.dtype), divisor.name or "factor")
        reason = "The inverse of a power of two is exact, and a product is faster."
        return Replacement.by(NewNode("Mul", [source, inverse]), reason, node)


def _invertible(data: np.ndarray) -> bool:
    """Whether all elements are powers of two with an inverse that is one, too."""
    if data.size == 0 or data.size > 1 << 16:
        return False
    mantissa, exponent = np.frexp(data)
    limit = -np.finfo(data.dtype).minexp
    return bool((np.abs(mantissa) == 0.5).all() and (np.abs(exponent - 1) < limit).all())


def _with_number(node: ir.Node, context: Context) -> Neutral | None:
    """The operand that a number multiplies or divides."""
    if len(node.inputs) != 2 or context.opset() < 7:
        return None
    pairs = [(node.inputs[0], node.inputs[1])]
    if node.op_type == "Mul":
        pairs.append((node.inputs[1], node.inputs[0]))
    for kept, constant in pairs:
        number = context.scalar(constant)
        if kept is not None and number is not None and not context.is_constant(kept):
            return None if math.isnan(number) else Neutral(kept, constant, number)
    return None
