"""DequantizeLinear and QuantizeLinear that undo each other."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.constants import same_content
from optimizer.passes.wording import described, shared
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

_MOVES = (
    "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Tile",
    "Transpose", "Unsqueeze",
)  # fmt: skip
"""What only moves elements of its first input, and runs on integers of 8 bits."""
_EIGHT_BITS = frozenset({ir.DataType.INT8, ir.DataType.UINT8})
_STEPS = _EIGHT_BITS | {
    ir.DataType.INT4, ir.DataType.UINT4, ir.DataType.INT16, ir.DataType.UINT16,
}  # fmt: skip
"""Integers of which a float32 holds every multiple of a scale well enough to be told again."""
_LEAST, _MOST = 1e-30, 1e30
"""Scales with which no multiple underflows or overflows."""


@register
class CancelRequantization(Pass):
    """Cancel DequantizeLinear against QuantizeLinear.

    What it does:
        What is dequantized and quantized again with the same scale and zero point stays as it is; a
        Transpose, Reshape, Slice or the like in between works on the integers. Integers that are
        quantized otherwise, or were never integers, keep every rounding.
    Before:
        q → DequantizeLinear(s, z) → Transpose → QuantizeLinear(s, z)
    After:
        q → Transpose
    When it is safe:
        Scale and zero point are constant and equal bit for bit, one for all or along the same axis;
        around a move there is one for all. Integers have at most 16 bits, the scale is float32
        between 1e-30 and 1e30: then dividing gives each integer again. The pair in the other order,
        QuantizeLinear first, rounds and stays.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, QuantizeLinear and DequantizeLinear.
    """

    id = "cancel-requantization"
    exactness = "exact"
    presets = ()
    order = 60

    @rule("QuantizeLinear", name="QuantizedAgain", reach=2)
    def pair(self, node: ir.Node, context: Context) -> Outcome:
        """A QuantizeLinear of what a DequantizeLinear gives."""
        first = producer_of(node.inputs[0], "DequantizeLinear")
        if first is None:
            return None
        if problem := _other_integers(first, node, context):
            return Declined(problem, (first,))
        source = first.inputs[0]
        assert source is not None, "a DequantizeLinear reads something"
        reason = "Dividing by the scale gives the integers that were multiplied by it."
        return Replacement([first, node], {node.outputs[0]: source}, reason)

    @rule("QuantizeLinear", name="MovedBetween", reach=3)
    def around(self, node: ir.Node, context: Context) -> Outcome:
        """A QuantizeLinear of what only moves what a DequantizeLinear gives."""
        move = producer_of(node.inputs[0], *_MOVES)
        first = None if move is None else producer_of(given(move, 0), "DequantizeLinear")
        if move is None or first is None:
            return None
        if problem := _other_integers(first, node, context):
            return Declined(problem, (first, move))
        if blocked := shared(move.outputs[0], node):
            return blocked
        source, scale = first.inputs[0], context.tensor(first.inputs[1])
        if source is None or source.dtype not in _EIGHT_BITS or scale is None or scale.size != 1:
            return Declined(f"{described(move)} moves integers of 8 bits and one scale alone")
        made = NewNode(
            move.op_type, [source, *move.inputs[1:]], dict(move.attributes), name=move.name
        )
        reason = f"{move.op_type} moves integers as it moves what they stand for."
        return Replacement.by(made, reason, first, move, node)


def _other_integers(first: ir.Node, last: ir.Node, context: Context) -> str:
    """Why what is quantized may not be the integers that were dequantized; empty if it is."""
    kinds = [
        value.dtype if value is not None else None for value in (first.inputs[0], last.outputs[0])
    ]
    if kinds[0] is None or kinds[0] != kinds[1]:
        return "It is quantized to another type"
    if kinds[0] not in _STEPS:
        return f"{kinds[0]} has more steps than a float tells apart"
    scales = [context.tensor(node.inputs[1]) for node in (first, last)]
    if scales[0] is None or scales[1] is None:
        return "A scale is computed"
    if not same_content(scales[0], scales[1]):
        return "It is quantized with another scale"
    size = np.abs(scales[0].numpy()) if scales[0].dtype == ir.DataType.FLOAT else np.zeros(1)
    if not (size.min(initial=_MOST) >= _LEAST and size.max(initial=_LEAST) <= _MOST):
        return "The scale is no float32 of moderate size"
    if not _same_zero(first, last, context):
        return "It is quantized with another zero point"
    along = [
        (context.attribute(n, "axis"), context.attribute(n, "block_size")) for n in (first, last)
    ]
    if scales[0].size != 1 and along[0] != along[1]:
        return "It is quantized along another axis"
    return ""


def _same_zero(first: ir.Node, last: ir.Node, context: Context) -> bool:
    """Whether two zero points are certainly equal; one that is left out is 0."""
    found: list[np.ndarray | None] = []
    for node in (first, last):
        value = given(node, 2)
        found.append(np.zeros(1, np.int64) if value is None else context.array(value))
    one, other = found
    if one is None or other is None:
        return False
    wide = [zero.astype(np.int64).reshape(-1) for zero in (one, other)]
    if 1 in (wide[0].size, wide[1].size):
        return bool((wide[0].reshape(-1, 1) == wide[1].reshape(1, -1)).all())
    return bool(np.array_equal(wide[0], wide[1]))
