"""Channels of neighboring weights brought to the same size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import Floats
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    Operand,
    Outcome,
    Replacement,
    given,
    producer_of,
)

_ENOUGH = 1.05
"""A scale between its inverse and this moves nothing any more."""


@register
class EqualizeChannels(Pass):
    """Equalize channels of neighboring convolutions.

    What it does:
        What one convolution makes of a channel is divided by a number, and what the next one
        multiplies it with is multiplied by it, so that the largest weights of the channel are
        equal in both: √(r₁·r₂)/r₂ with r₁ and r₂ the largest of each. Then one scale for all
        channels, of weights and of the values between, loses less. Ranges have to be observed
        afterwards: the values between are others.
    Before:
        Conv(w₁, b₁) → Relu → Conv(w₂)
    After:
        Conv(w₁/s, b₁/s) → Relu → Conv(w₂·s)
    When it is safe:
        Between them is nothing, or a Relu, which a positive factor passes through; not a Clip, as
        Relu6. Nothing else reads what is between; weights and bias are constant float32; the second
        has one group or one a channel.
    Numerics:
        The same mathematics, rounded otherwise.
    Source:
        Nagel et al. 2019, Data-Free Quantization Through Weight Equalization and Bias Correction,
        eq. 11.
    """

    id = "equalize-channels"
    exactness = "reassociates"
    order = 20

    @rule("Conv", name="ConvPair", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The second of two convolutions."""
        relu = producer_of(node.inputs[0], "Clip", "Relu")
        first = producer_of(node.inputs[0] if relu is None else relu.inputs[0], "Conv")
        if first is None or first.graph is not node.graph:
            return None
        between = [first.outputs[0], *([] if relu is None else [relu.outputs[0]])]
        if relu is not None and relu.op_type == "Clip":
            return Declined("A factor does not pass through a Clip", (relu,))
        if not all(context.single_use(value) for value in between):
            return Declined("What is between has a second consumer")
        pair = _Pair.of(first, node, context)
        if not isinstance(pair, _Pair):
            return pair
        scales = equalizing(pair.most(first=True), pair.most(first=False))
        if np.maximum(scales, 1 / scales).max(initial=1.0) < _ENOUGH:
            return None
        reason = f"Its {scales.size} channels get the same largest weight before and after."
        matched = [first, *([relu] if relu is not None else []), node]
        return Replacement(matched, {}, reason, inputs=pair.scaled(scales))


def equalizing(first: Floats, second: Floats) -> Floats:
    """What each channel is divided by in the first weights, and multiplied by in the second.

    Args:
        first: float32[channels], the largest weight that makes a channel.
        second: float32[channels], the largest that reads it.
    """
    some = (first > 0) & (second > 0)
    divisor = np.where(some, second, 1.0)
    return np.where(some, np.sqrt(first * second) / divisor, 1.0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two convolutions, and their weights.

    Attributes:
        made: float32[channels, ...], of the first.
        read: float32[channels, ...], of the second, with the channels in front.
        moved: whether they had to be brought there.
    """

    first: ir.Node
    second: ir.Node
    made: Floats
    read: Floats
    moved: bool
    bias: Floats | None

    @staticmethod
    def of(first: ir.Node, second: ir.Node, context: Context) -> _Pair | Declined:
        made, read = context.array(first.inputs[1]), context.array(second.inputs[1])
        bias = context.array(given(first, 2))
        if made is None or read is None or (bias is None and given(first, 2) is not None):
            return Declined("Weights or bias are computed, not constant")
        if any(a is not None and a.dtype != np.float32 for a in (made, read, bias)):
            return Declined("Weights or bias are not float32")
        groups, channels = context.attribute(second, "group"), made.shape[0]
        if groups == 1 and read.shape[1] == channels:
            return _Pair(first, second, made, np.moveaxis(read, 1, 0), True, bias)
        if groups == channels == read.shape[0]:
            return _Pair(first, second, made, read, False, bias)
        return Declined("Its groups hold several channels")

    def most(self, *, first: bool) -> Floats:
        """The largest weight of each channel."""
        weight = self.made if first else self.read
        return np.abs(weight).reshape(weight.shape[0], -1).max(axis=1, initial=0.0)

    def scaled(self, scales: Floats) -> dict[tuple[ir.Node, int], Operand | None]:
        """The inputs that are others afterwards."""
        made = self.made / _along(scales, self.made)
        read = self.read * _along(scales, self.read)
        changed: dict[tuple[ir.Node, int], Operand | None] = {
            (self.first, 1): _named(made, self.first, 1),
            (self.second, 1): _named(
                np.moveaxis(read, 0, 1) if self.moved else read, self.second, 1
            ),
        }
        if self.bias is not None:
            changed[self.first, 2] = _named(self.bias / scales, self.first, 2)
        return changed


def _along(scales: Floats, weight: Floats) -> Floats:
    return scales.reshape(-1, *(1,) * (weight.ndim - 1))


def _named(array: Floats, node: ir.Node, index: int) -> NewInitializer:
    value = node.inputs[index]
    return NewInitializer.of(array, (value.name if value else None) or "weight", np.float32)
