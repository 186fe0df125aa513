"""Max, Min, Clip and Relu: operands that are extremes themselves, clamps in a row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.simplify_algebra import Neutral, keeps_shape
from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    given,
    producer_of,
)

_EXTREMES = ("Max", "Min")
_CLAMPS = (*_EXTREMES, "Clip", "Relu")
_FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16})


@dataclass(frozen=True, slots=True)
class _Clamp:
    """A node that keeps a value between two numbers.

    Attributes:
        source: the value.
        low: -∞ where there is no bound.
        high: ∞ where there is none.
    """

    source: ir.Value
    low: float
    high: float


@register
class MergeExtremes(Pass):
    """Merge Max, Min and Clip.

    What it does:
        A Max of a Max is one Max of all operands, of which equal ones count once and constants
        are compared here; so is a Min of a Min. A Max and a Min by a number in a row, or one of
        them and a Clip or Relu, are one Clip. A Max with 0, and a Clip from 0 without an upper
        bound, are Relu. A Max with -∞ and a Min with ∞ go away.
    Before:
        x → Max(·, 0) → Min(·, 6)
    After:
        x → Clip(0, 6)
    When it is safe:
        Nothing else reads the value in between. The bounds of a Clip are constants of one
        element, in order, that do not broadcast the value to another shape; its element type is
        float, double or float16.
    Numerics:
        Equal numbers, NaN included. Where 0 meets -0 the other one of the two may come out. A Clip
        that has one bound alone gives the largest number for an infinity on its other side, which
        stays infinite without it.
    Source:
        min(max(min(max(x, a), b), c), d) = min(max(x, clip(a)), clip(b)).
    """

    id = "merge-extremes"
    exactness = "reassociates"
    order = 63

    @rule(*_EXTREMES, name="NestedExtreme", reach=2)
    def nested(self, node: ir.Node, context: Context) -> Outcome:
        """An operand that is the same operator, an operand twice, two constants."""
        if context.opset() < 8 or not node.inputs:
            return None
        inner = [producer_of(value, node.op_type) for value in node.inputs]
        opened = next((each for each in inner if each is not None), None)
        blocked = None if opened is None else shared(opened.outputs[0], node)
        if opened is not None and blocked is not None:
            opened = None
        operands: list[ir.Value] = []
        for value, above in zip(node.inputs, inner, strict=True):
            opens = above is not None and above is opened
            operands += [v for v in (above.inputs if opens and above else [value]) if v is not None]
        matched = [node] if opened is None else [opened, node]
        return _simpler(matched, operands, context) or blocked

    @rule(*_CLAMPS, name="ClampChain", reach=2)
    def chain(self, node: ir.Node, context: Context) -> Outcome:
        """Two clamps in a row, of which one is a Max or Min."""
        second = _clamp(node, context)
        above = None if second is None else producer_of(second.source, *_CLAMPS)
        first = None if above is None else _clamp(above, context)
        if above is None or first is None or second is None or above.op_type == node.op_type:
            return None
        if not {above.op_type, node.op_type} & {*_EXTREMES}:
            return None  # merge-clips
        blocked = shared(second.source, node)
        if blocked is not None:
            return blocked
        low, high = (min(max(bound, second.low), second.high) for bound in (first.low, first.high))
        made = _written(_Clamp(first.source, low, high), context)
        names = f"{above.op_type} and {node.op_type}"
        reason = f"{names} keep values within [{low:g}, {high:g}] together."
        return Replacement.by(made, reason, above, node)

    @rule(*_EXTREMES, name="ExtremeWithInfinity")
    def unbounded(self, node: ir.Node, context: Context) -> Outcome:
        """No number is below -∞, none above ∞."""
        found = _clamp(node, context)
        if found is None or math.isfinite(found.low) or math.isfinite(found.high):
            return None
        bound = "-∞" if node.op_type == "Max" else "∞"
        reason = f"{node.op_type} with {bound} returns the other operand."
        return Replacement([node], {node.outputs[0]: found.source}, reason)

    @rule("Max", "Clip", name="ClampFromZero")
    def from_zero(self, node: ir.Node, context: Context) -> Outcome:
        """What Relu does."""
        found = _clamp(node, context)
        if found is None or found.low != 0 or not math.isinf(found.high):
            return None
        made = NewNode("Relu", [found.source])
        return Replacement.by(made, f"{node.op_type} from 0 upwards is Relu.", node)


def _simpler(matched: list[ir.Node], operands: list[ir.Value], context: Context) -> Outcome:
    """One extreme of fewer operands, or of more that took two nodes; None where nothing is won."""
    node = matched[-1]
    different = list(dict.fromkeys(operands))
    constants = [value for value in different if context.array(value) is not None]
    varying: list[Operand] = [value for value in different if value not in constants]
    merged = _extreme(node.op_type, constants, context) if len(constants) > 1 else None
    kept: list[Operand] = [*varying, merged] if merged is not None else [*different]
    if len(matched) == 1 and len(kept) == len(operands):
        return None
    if len(kept) == 1:
        return Replacement(matched, {node.outputs[0]: kept[0]}, f"{node.op_type} of a value alone.")
    reason = f"One {node.op_type} compares all operands, each of them once."
    return Replacement.by(NewNode(node.op_type, kept), reason, *matched)


def _extreme(operator: str, constants: list[ir.Value], context: Context) -> NewInitializer | None:
    """The extreme of constants; None where it would be larger than they are."""
    arrays = [array for value in constants if (array := context.array(value)) is not None]
    try:
        size = np.broadcast(*arrays).size
    except ValueError:
        return None
    if size > max(array.size for array in arrays) or any(a.dtype.kind not in "fiu" for a in arrays):
        return None
    function = np.maximum if operator == "Max" else np.minimum
    total = arrays[0]
    for array in arrays[1:]:
        total = function(total, array)
    return NewInitializer.of(total, constants[0].name or "bound")


def _clamp(node: ir.Node, context: Context) -> _Clamp | None:
    """A node as a clamp between numbers; None where it is none, or the bounds are out of order."""
    source = node.inputs[0]
    if source is None or node.outputs[0].dtype not in _FLOATS or context.opset() < 8:
        return None
    if node.op_type in _EXTREMES:
        return _one_sided(node, context)
    if node.op_type == "Relu":
        return _Clamp(source, 0.0, math.inf)
    bounds = [_bound(node, name, place, context) for place, name in ((1, "min"), (2, "max"))]
    low, high = bounds
    if low is None or high is None or not low <= high:
        return None
    return _Clamp(source, low, high)


def _bound(node: ir.Node, name: str, place: int, context: Context) -> float | None:
    """A bound of a Clip, infinite where there is none; None where it varies."""
    if context.opset() < 11:
        value = context.attribute(node, name)
        return float(value) if isinstance(value, int | float) else None
    value = given(node, place)
    if value is None:
        return math.inf if place == 2 else -math.inf
    return context.scalar(value)


def _one_sided(node: ir.Node, context: Context) -> _Clamp | None:
    """Max or Min of a value and a number."""
    if len(node.inputs) != 2:
        return None
    for value, other in (node.inputs, node.inputs[::-1]):
        number = context.scalar(other)
        if value is None or number is None or context.is_constant(value) or math.isnan(number):
            continue
        if keeps_shape(node, Neutral(value, other, number), context):
            low, high = (number, math.inf) if node.op_type == "Max" else (-math.inf, number)
            return _Clamp(value, float(low), float(high))
    return None


def _written(clamp: _Clamp, context: Context) -> NewNode:
    """A clamp as the operator that has its bounds."""
    if clamp.low == 0 and math.isinf(clamp.high):
        return NewNode("Relu", [clamp.source])
    if context.opset() < 11:
        bounds = {"min": clamp.low, "max": clamp.high}
        kept = {name: bound for name, bound in bounds.items() if math.isfinite(bound)}
        return NewNode("Clip", [clamp.source], kept)
    assert clamp.source.dtype is not None
    made = [
        None if math.isinf(bound) else NewInitializer.of(bound, name, clamp.source.dtype.numpy())
        for bound, name in ((clamp.low, "clip_min"), (clamp.high, "clip_max"))
    ]
    return NewNode("Clip", [clamp.source, *(made if made[1] is not None else made[:1])])
