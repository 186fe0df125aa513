"""Pairs of QuantizeLinear and DequantizeLinear, by which a runtime knows what to run on integers.

Source: ONNX Runtime, Quantize ONNX models: tensor-oriented (QDQ) representation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.passes.draft import Draft
from optimizer.precision.quantization import (
    Floats,
    Integers,
    QuantizationParameters,
    asymmetric,
    least_scales,
    quantized,
    quantized_bias,
    quantized_rows,
)
from optimizer.precision.ranges import Range
from optimizer.rules import Context, NewInitializer, NewOutput, Operand, producer_of

SINCE = 10
"""The operator set that brought QuantizeLinear."""

PER_CHANNEL_SINCE = 13
"""The operator set since which DequantizeLinear takes a scale a channel."""


@dataclass(frozen=True, slots=True)
class Dequantized:
    """A value as DequantizeLinear makes it of integers.

    Attributes:
        scale: of one step.
    """

    real: Operand
    scale: float


@dataclass(frozen=True, slots=True)
class Pairs(Draft):
    """New nodes of one rewrite, some of which quantize and dequantize."""

    def pair(self, value: Operand, by: QuantizationParameters, name: str) -> Dequantized:
        """A value quantized and back."""
        scale = NewInitializer.of(by.scale, f"{name}_scale", np.float32)
        zero = NewInitializer.of(by.zero_point, f"{name}_zero_point", by.code)
        integers = self.new("QuantizeLinear", value, scale, zero)
        return Dequantized(self.new("DequantizeLinear", integers, scale, zero), by.scale)

    def constant(self, array: NDArray[np.float32], name: str) -> Dequantized:
        """A constant of one scale, as uint8."""
        by = asymmetric(Range(float(array.min(initial=0)), float(array.max(initial=0))))
        tensor = NewInitializer.of(quantized(array, by), f"{name}_quantized")
        scale = NewInitializer.of(by.scale, f"{name}_scale", np.float32)
        zero = NewInitializer.of(by.zero_point, f"{name}_zero_point", by.code)
        return Dequantized(self.new("DequantizeLinear", tensor, scale, zero), by.scale)

    def channels(self, integers: Integers, scales: Floats, name: str, *, axis: int) -> NewOutput:
        """A constant with a scale a channel, or with one for all where there is one."""
        tensor = NewInitializer.of(integers, f"{name}_quantized")
        alone = scales.size == 1
        scale = NewInitializer.of(scales.reshape(()) if alone else scales, f"{name}_scale")
        # ONNX Runtime computes a Gemm on integers only where the zeros are written out.
        shape = () if alone else scales.shape
        zero = NewInitializer.of(np.zeros(shape, integers.dtype), f"{name}_zero_point")
        about = None if alone else axis
        return self.new("DequantizeLinear", tensor, scale, zero, axis=about)


@dataclass(frozen=True, slots=True)
class Weights:
    """Constant weights as integers, and the bias that is added to their products.

    Attributes:
        axis: of the channels.
        per_channel: a scale for each; else one for all.
        bits: 8, or 7.
        names: of weights and bias.
        met: the mean of what each weight is multiplied by, in a shape that is broadcast to theirs;
            by it the bias takes back what rounding them adds on average.
    """

    data: Floats
    bias: Floats | None
    axis: int
    per_channel: bool
    bits: int
    names: tuple[str, str]
    met: Floats | None = None

    def written(self, pairs: Pairs, input_scale: float) -> tuple[NewOutput, NewOutput | None]:
        """Both as DequantizeLinear makes them of integers."""
        first = np.moveaxis(self.data, self.axis, 0)
        rows = first.reshape(first.shape[0] if self.per_channel else 1, -1)
        bias = np.zeros(1, np.float32) if self.bias is None else self.bias
        least = least_scales(bias, input_scale)
        least = least if self.per_channel else least.max(initial=0.0, keepdims=True)
        integers, scales = quantized_rows(rows, bits=self.bits, floor=least)
        placed = np.moveaxis(integers.reshape(first.shape), 0, self.axis)
        weight = pairs.channels(placed, scales, self.names[0], axis=self.axis)
        if self.bias is None:
            return weight, None
        if self.met is not None:
            real = np.moveaxis((integers * scales[:, None]).reshape(first.shape), 0, self.axis)
            added = np.moveaxis((real - self.data) * self.met, self.axis, 0)
            bias = bias - added.reshape(len(bias), -1).sum(axis=1)
        both = (scales * np.float32(input_scale)).astype(np.float32)
        return weight, pairs.channels(quantized_bias(bias, both), both, self.names[1], axis=0)


def dequantized_from(value: ir.Value | None, context: Context) -> Dequantized | None:
    """A value that is dequantized; None for constants and for a scale a channel."""
    node = producer_of(value, "DequantizeLinear")
    scale = None if node is None else context.scalar(node.inputs[1])
    if node is None or value is None or scale is None or context.is_constant(node.inputs[0]):
        return None
    return Dequantized(value, float(scale))


def pair_before(
    value: ir.Value, root: ir.Node, by: QuantizationParameters, context: Context
) -> Dequantized | None:
    """The pair that another reader of `value` was given, if it is there before `root`."""
    for use in value.uses():
        node = use.node
        if node.op_type != "QuantizeLinear" or node.domain or not context.precedes(node, root):
            continue
        if context.scalar(node.inputs[1]) != by.scale or _zero(node, context) != by.zero_point:
            continue
        for again in node.outputs[0].uses():
            if again.node.op_type == "DequantizeLinear" and context.precedes(again.node, root):
                return Dequantized(again.node.outputs[0], by.scale)
    return None


def _zero(node: ir.Node, context: Context) -> float | int | bool | None:
    return context.scalar(node.inputs[2]) if len(node.inputs) > 2 else 0
