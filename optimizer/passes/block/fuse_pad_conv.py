"""Pad before a convolution or a pooling."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement, given, producer_of


@register
class FusePadConv(Pass):
    """Fuse Pad into Conv or AveragePool.

    What it does:
        Padding with zeros around an image is something Conv and AveragePool do themselves: the
        Pad goes into their `pads`.
    Before:
        Pad(0) → Conv
    After:
        Conv(pads)
    When it is safe:
        The Pad adds constant zeros, removes nothing, and touches neither batch nor channels. The
        amounts are constant. `auto_pad` is not in use. AveragePool then counts the padding, so it
        may not have padding of its own that it does not count, nor round sizes up. MaxPool pads
        with −∞, not with zeros, and stays.
    Numerics:
        Bit-identical: the same zeros at the same places.
    Source:
        ONNX operator specification, Pad, Conv, AveragePool.
    """

    id = "fuse-pad-conv"
    exactness = "exact"
    order = 68

    @rule("Conv", name="PadConv")
    def conv(self, node: ir.Node, context: Context) -> Outcome:
        """Pad, then Conv."""
        pad = producer_of(node.inputs[0], "Pad")
        if pad is None:
            return None
        rank = context.rank(node.inputs[1]) or context.rank(pad.outputs[0])
        amounts = _amounts(pad, rank, context) if rank is not None else "The rank is not known"
        return _fused(node, pad, amounts, context)

    @rule("AveragePool", name="PadAveragePool")
    def average_pool(self, node: ir.Node, context: Context) -> Outcome:
        """Pad, then AveragePool."""
        pad = producer_of(node.inputs[0], "Pad")
        if pad is None or context.opset() < 7:
            return None
        kernel = context.integers(node, "kernel_shape") or []
        amounts = _amounts(pad, len(kernel) + 2, context)
        if isinstance(amounts, list):
            own = _own_pads(node, len(kernel), context)
            counted = bool(context.attribute(node, "count_include_pad"))
            if context.attribute(node, "ceil_mode"):
                amounts = "AveragePool rounds its output size up"
            elif any(own) and not counted:
                amounts = "AveragePool does not count its own padding"
            elif any(a + b >= k for a, b, k in zip(amounts, own, kernel * 2, strict=True)):
                amounts = "The padding is as large as the window"
        return _fused(node, pad, amounts, context, extra={"count_include_pad": 1})

    @rule("MaxPool", name="PadMaxPool")
    def max_pool(self, node: ir.Node, context: Context) -> Outcome:
        """Pad, then MaxPool: never."""
        pad = producer_of(node.inputs[0], "Pad")
        return None if pad is None else Declined("MaxPool pads with −∞, not with zeros", (pad,))


def _fused(
    node: ir.Node,
    pad: ir.Node,
    amounts: list[int] | str,
    context: Context,
    *,
    extra: Mapping[str, object] = {},
) -> Outcome:
    if isinstance(amounts, str):
        return Declined(amounts, (pad,))
    if context.attribute(node, "auto_pad") not in ("NOTSET", b"NOTSET", "VALID", b"VALID", None):
        return Declined(f"{node.op_type} chooses its padding itself (auto_pad)", (pad,))
    own = _own_pads(node, len(amounts) // 2, context)
    if len(own) != len(amounts):
        return Declined(f"{node.op_type} has pads for another rank", (pad,))
    pads = [a + b for a, b in zip(amounts, own, strict=True)]
    attributes = {**node.attributes, "pads": pads, "auto_pad": None, **extra}
    made = NewNode(node.op_type, [pad.inputs[0], *node.inputs[1:]], attributes, name=node.name)
    reason = f"{node.op_type} pads with zeros by itself: pads {pads}."
    return Replacement.by(made, reason, pad, node)


def _own_pads(node: ir.Node, spatial: int, context: Context) -> list[int]:
    return context.integers(node, "pads") or [0] * (2 * spatial)


def _amounts(pad: ir.Node, rank: int, context: Context) -> list[int] | str:
    """Zeros before and after each spatial axis, or why they cannot be moved."""
    if context.attribute(pad, "mode") not in (None, "constant", b"constant"):
        return "Pad does not pad with a constant"
    problem = _value_problem(pad, context)
    if problem is not None:
        return problem
    full = _all_amounts(pad, rank, context)
    if full is None:
        return "The amounts of Pad are not known beforehand"
    if any(amount < 0 for amount in full):
        return "Pad removes elements (negative amounts)"
    if any(full[axis] or full[axis + rank] for axis in (0, 1)):
        return "Pad adds to the batch or the channels"
    return full[2:rank] + full[rank + 2 :]


def _value_problem(pad: ir.Node, context: Context) -> str | None:
    filler = given(pad, 2)
    if context.opset() < 11:
        value = context.attribute(pad, "value")
    else:
        value = 0 if filler is None else context.scalar(filler)
    if value is None:
        return "The value Pad fills in is not known beforehand"
    return None if value == 0 else f"Pad fills in {value}, not zero"


def _all_amounts(pad: ir.Node, rank: int, context: Context) -> list[int] | None:
    amounts, chosen = context.parameter(pad, "pads", 1), list(range(rank))
    if (named := given(pad, 3)) is not None:
        chosen = context.ints(named)
        if chosen is None:
            return None
    axes = [axis % rank for axis in chosen]
    if amounts is None or len(amounts) != 2 * len(axes) or rank < 3:
        return None
    full = [0] * (2 * rank)
    for index, axis in enumerate(axes):
        full[axis], full[axis + rank] = amounts[index], amounts[index + len(axes)]
    return full
