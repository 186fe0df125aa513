"""Operators that ONNX Runtime fuses, as their parts."""

from __future__ import annotations

import math
from typing import Any, cast

import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.passes.draft import NotHere, dims_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_PARAMETERS = {"LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta")}
_PLAIN = ("Relu", "Sigmoid", "Tanh")


@register
class LowerFusedOperators(Pass):
    """Write operators that ONNX Runtime fuses as their parts.

    What it does:
        MultiHeadAttention becomes products, a Softmax and the moves of heads around them; FusedConv
        a Conv, a sum and an activation.
    Before:
        com.microsoft.MultiHeadAttention
    After:
        Reshape → Transpose → MatMul → Mul → Softmax → MatMul → Transpose → Reshape
    When it is safe:
        Queries, keys and values have three axes of which the last is known; there is neither a
        past nor a mask of keys, and only the first output is used.
    Numerics:
        The same mathematics; the fused kernel may add in another order.
    Source:
        ONNX Runtime contrib operators; Vaswani et al. 2017, eq. 1.
    """

    id = "lower-fused-operators"
    exactness = "reassociates"
    order = 40

    profile: str = "matrix-engine"

    @lowers("com.microsoft::MultiHeadAttention", name="AttentionOfHeads")
    def attention(self, lowering: Lowering) -> Replacement:
        """softmax(q · kᵀ · scale + bias) · v, head by head."""
        _check_attention(lowering)
        heads = int(lowering.of("num_heads"))
        query, key, value = (_biased(lowering, index) for index in range(3))
        width = _width(lowering, 0)
        moved = [_heads(lowering, query, heads, [0, 2, 1, 3])]
        moved.append(_heads(lowering, key, heads, [0, 2, 3, 1]))
        moved.append(_heads(lowering, value, heads, [0, 2, 1, 3]))
        scale = float(lowering.of("scale") or 0.0) or 1 / math.sqrt(width // heads)
        scores: Operand = lowering.new("MatMul", moved[0], moved[1])
        scores = lowering.new("Mul", scores, lowering.number(lowering.input(0), scale))
        added = lowering.optional_input(5)
        if added is not None:
            scores = lowering.new("Add", scores, added)
        shares = lowering.new("Softmax", scores, axis=3 if lowering.opset < 13 else -1)
        result = lowering.new("MatMul", shares, moved[2])
        result = lowering.new("Transpose", result, perm=[0, 2, 1, 3])
        result = lowering.reshape(result, 0, 0, _width(lowering, 2))
        return lowering.put(result, "Its parts are products, a Softmax and moves of heads.")

    @lowers("com.microsoft::FusedConv", name="ConvAndActivation")
    def convolution(self, lowering: Lowering) -> Replacement:
        """A convolution, what is added to it, and an activation."""
        about = {
            name: attribute
            for name, attribute in lowering.node.attributes.items()
            if not name.startswith("activation")
        }
        inputs = [lowering.optional_input(index) for index in range(3)]
        given = inputs if inputs[2] is not None else inputs[:2]
        result: Operand = lowering.new("Conv", *given, **cast("dict[str, Any]", about))
        added = lowering.optional_input(3)
        if added is not None:
            result = lowering.new("Add", result, added)
        return lowering.put(_activated(lowering, result), "It is a Conv and what follows it.")


def _check_attention(lowering: Lowering) -> None:
    node = lowering.node
    if any(map(is_used, node.outputs[1:])):
        raise NotHere("its second output is used")
    if any(lowering.optional_input(index) is not None for index in (4, 6, 7, 8, 9)):
        raise NotHere("it reads a mask of keys, or a past")
    if lowering.of("unidirectional"):
        raise NotHere("each of its queries sees the keys before it alone")
    if any(len(dims_of(lowering.input(index))) != 3 for index in range(3)):
        raise NotHere("its keys and values are packed, or apart by heads")


def _width(lowering: Lowering, index: int) -> int:
    width = dims_of(lowering.input(index))[2]
    if width is None:
        raise NotHere("the width of its heads is free in the file")
    return width


def _biased(lowering: Lowering, index: int) -> Operand:
    """Query, key or value with its part of the bias."""
    value: ir.Value = lowering.input(index)
    bias = lowering.optional_input(3)
    if bias is None:
        return value
    widths = [_width(lowering, place) for place in range(index + 1)]
    part = lowering.slice(bias, [0], [sum(widths[:-1])], [sum(widths)])
    return lowering.new("Add", value, part)


def _heads(lowering: Lowering, value: Operand, heads: int, perm: list[int]) -> Operand:
    apart = lowering.reshape(value, 0, 0, heads, -1)
    return lowering.new("Transpose", apart, perm=perm)


def _activated(lowering: Lowering, value: Operand) -> Operand:
    raw = lowering.of("activation")
    name = raw.decode() if isinstance(raw, bytes) else str(raw or "")
    listed = lowering.node.attributes.get("activation_params")
    numbers = [] if listed is None else [*listed.as_floats()]
    if not name:
        return value
    if name in _PLAIN:
        return lowering.new(name, value)
    if name in _PARAMETERS and len(numbers) == len(_PARAMETERS[name]):
        about: dict[str, Any] = dict(zip(_PARAMETERS[name], numbers, strict=True))
        return lowering.new(name, value, **about)
    if name == "Clip" and len(numbers) == 2 and lowering.opset >= 11:
        low, high = (lowering.number(lowering.input(0), number) for number in numbers)
        return lowering.new("Clip", value, low, high)
    raise NotHere(f"its activation {name} is not known")
