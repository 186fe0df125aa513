"""Casts that change nothing."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators.catalogue import RESHAPING
from optimizer.passes.node.agreement import Verdict, bypass
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewNode,
    Outcome,
    Replacement,
    given,
    producer_of,
)

_INTEGERS = ("INT8", "INT16", "INT32", "INT64")
_NATURALS = ("UINT8", "UINT16", "UINT32", "UINT64")
_FLOATS = ("FLOAT16", "BFLOAT16", "FLOAT", "DOUBLE")

_WIDER: dict[str, frozenset[str]] = {
    "BOOL": frozenset({*_INTEGERS, *_NATURALS, *_FLOATS}),
    # An integer is exact in a float whose significand has as many bits: 11, 8, 24 and 53.
    "INT8": frozenset({"INT16", "INT32", "INT64", *_FLOATS}),
    "INT16": frozenset({"INT32", "INT64", "FLOAT", "DOUBLE"}),
    "INT32": frozenset({"INT64", "DOUBLE"}),
    "UINT8": frozenset({"UINT16", "UINT32", "UINT64", "INT16", "INT32", "INT64", *_FLOATS}),
    "UINT16": frozenset({"UINT32", "UINT64", "INT32", "INT64", "FLOAT", "DOUBLE"}),
    "UINT32": frozenset({"UINT64", "INT64", "DOUBLE"}),
    "FLOAT16": frozenset({"FLOAT", "DOUBLE"}),
    "BFLOAT16": frozenset({"FLOAT", "DOUBLE"}),
    "FLOAT": frozenset({"DOUBLE"}),
}
"""Types that hold every value of a type, so that casting there and back gives it again."""

_NUMBERS = frozenset({"BOOL", *_INTEGERS, *_NATURALS, *_FLOATS})

_MOVES = ("Gather", "Slice", "Transpose", *sorted(RESHAPING))


@register
class EliminateNoopCast(Pass):
    """Remove casts that change nothing.

    What it does:
        A Cast (or CastLike) to the type its input already has goes away, and so does a pair of
        casts into a wider type and back, also around a Transpose, a view, Slice or Gather. A cast
        into a wider type and on into a third is one Cast.
    Before:
        x:float16 → Cast(float) → Cast(float16) → Relu
    After:
        x:float16 → Relu
    When it is safe:
        The type of the input is known and is the target type. For a pair: the type in the middle
        holds every value of the first one (float16 in float, int32 in int64 or double, bool in any
        number); a third type that is an integer is not reached from an integer through a float,
        which would not wrap around. float → float16 → float rounds and stays, and so does any
        pair through a string, an 8 bit float or an integer that changes sign.
    Numerics:
        Bit-identical. Only the payload of a signalling NaN, which a cast may quieten, can differ.
    Source:
        ONNX operator specification, Cast; significand sizes from IEEE 754-2019, table 3.5.
    """

    id = "eliminate-noop-cast"
    exactness = "exact"
    order = 10

    @bypass("Cast", "CastLike", name="SameTypeCast")
    def same_type(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """An input of the type already."""
        target = _target(node)
        if target is None or source.dtype != target:
            return None
        return f"The input is {_shown(target)} already."

    @rule("Cast", "CastLike", name="CastRoundTrip", reach=2)
    def round_trip(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by what the first of two casts reads."""
        target, first = _target(node), producer_of(node.inputs[0], "Cast", "CastLike")
        if first is None:
            return None
        source, between = first.inputs[0], _target(first)
        if source is None or target is None or between is None:
            return None
        if source.dtype != target or between == target:
            return None
        path = f"{_shown(target)} → {_shown(between)} → {_shown(target)}"
        if between.name not in _WIDER.get(target.name, frozenset()):
            return Declined(f"{path} may change values, so both casts must stay", (first,))
        reason = f"{path} gives every value back: {_shown(between)} holds them all."
        return Replacement([first, node], {node.outputs[0]: source}, reason)

    @rule("Cast", name="CastThroughWiderType", reach=2)
    def onward(self, node: ir.Node, context: Context) -> Outcome:
        """A type in between that every value passes unchanged."""
        first = producer_of(node.inputs[0], "Cast")
        source = None if first is None else first.inputs[0]
        if first is None or source is None or source.dtype is None or context.opset() < 6:
            return None
        start, between, target = source.dtype, _target(first), _target(node)
        if between is None or target is None or target in (start, between):
            return None
        wraps = start.is_integer() and between.is_floating_point() and target.is_integer()
        if wraps or target.name not in _NUMBERS or between.name not in _WIDER.get(start.name, ()):
            return None
        if not context.single_use(first.outputs[0]):
            return Declined("Something else reads the value in between", (first,))
        made = NewNode("Cast", [source], {"to": int(target)})
        path = f"{_shown(start)} → {_shown(between)} → {_shown(target)}"
        reason = f"{path} skips the type in between, which holds every value."
        return Replacement.by(made, reason, first, node)

    @rule("Cast", name="CastRoundTripAroundMove", reach=3)
    def around(self, node: ir.Node, context: Context) -> Outcome:
        """A pair of casts with a movement of the elements between them."""
        target, move = _target(node), producer_of(node.inputs[0], *_MOVES)
        first = None if move is None else producer_of(move.inputs[0], "Cast")
        source = None if first is None else first.inputs[0]
        if move is None or first is None or source is None or target is None:
            return None
        between = _target(first)
        if source.dtype != target or between is None or context.opset() < 13:
            return None
        if between.name not in _WIDER.get(target.name, frozenset()):
            return None
        if not all(context.single_use(one.outputs[0]) for one in (first, move)):
            return Declined("Something else reads the value in between", (first, move))
        made = NewNode(move.op_type, [source, *move.inputs[1:]], move.attributes, name=move.name)
        path = f"{_shown(target)} → {_shown(between)} → {_shown(target)}"
        reason = f"{path} gives every value back, and {move.op_type} only moves it."
        return Replacement.by(made, reason, first, move, node)


def _target(node: ir.Node) -> ir.DataType | None:
    """The type a cast casts to."""
    if node.op_type == "CastLike":
        like = given(node, 1)
        return like.dtype if like is not None else None
    attribute = node.attributes.get("to")
    if attribute is None:
        return None
    if isinstance(attribute.value, str):  # opset 1 spells the type
        return ir.DataType.__members__.get(attribute.value)
    return ir.DataType(attribute.as_int())


def _shown(dtype: ir.DataType) -> str:
    return dtype.name.lower()
