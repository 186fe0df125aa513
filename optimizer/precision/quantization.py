"""Real numbers as few-bit integers: `real = scale * (integer - zero_point)`.

Activations saturate: what is outside their range becomes its end. Weights do not: the largest of a
channel is the largest integer. Zero is always exact, so that padding stays nothing.

Source: Jacob et al. 2018, eq. 1 and section 3; ONNX QuantizeLinear, which rounds half to even.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.precision.ranges import Range

Floats = NDArray[np.float32]
Integers = NDArray[Any]
Code = Literal["uint8", "int8"]
"""The integers that activations become."""

_ENDS: dict[Code, tuple[int, int]] = {"uint8": (0, 255), "int8": (-128, 127)}
_SMALLEST = float(np.finfo(np.float32).tiny)
_MOST_OF_BIAS = 2**30
"""Half of what int32 holds: the other half is for the products that are added to a bias."""


@dataclass(frozen=True, slots=True)
class QuantizationParameters:
    """How numbers of one tensor become integers.

    Attributes:
        scale: of one step, a float32.
        zero_point: the integer that stands for 0.
    """

    scale: float
    zero_point: int
    code: Code

    @property
    def range(self) -> Range:
        """What can be told apart; the rest saturates."""
        low, high = _ENDS[self.code]
        return Range((low - self.zero_point) * self.scale, (high - self.zero_point) * self.scale)


def asymmetric(found: Range, code: Code = "uint8") -> QuantizationParameters:
    """All integers for a range, which is widened until it holds 0.

    A range of nothing but 0, or of less than float32 tells apart, has scale 1.
    """
    low, high = min(found.low, 0.0), max(found.high, 0.0)
    first, last = _ENDS[code]
    scale = float(np.float32((high - low) / (last - first)))
    if scale < _SMALLEST:
        return QuantizationParameters(1.0, first, code)
    return QuantizationParameters(
        scale, int(np.clip(np.rint(first - low / scale), first, last)), code
    )


def symmetric(found: Range) -> QuantizationParameters:
    """int8 with zero point 0 for a range; -128 is left out, so that negation is exact."""
    scale = float(np.float32(found.magnitude / 127))
    return QuantizationParameters(scale if scale >= _SMALLEST else 1.0, 0, "int8")


def affine(found: Range, code: Code) -> QuantizationParameters:
    """As kernels are fast: uint8 asymmetric, int8 symmetric."""
    return asymmetric(found) if code == "uint8" else symmetric(found)


def quantized(array: NDArray[Any], by: QuantizationParameters) -> Integers:
    """The integers of real numbers, saturated; half is rounded to even."""
    low, high = _ENDS[by.code]
    steps = np.rint(array / np.float32(by.scale)) + by.zero_point
    return np.clip(steps, low, high).astype(by.code)


def dequantized(integers: Integers, by: QuantizationParameters) -> Floats:
    """The real numbers that integers stand for."""
    return ((integers.astype(np.int32) - by.zero_point) * np.float32(by.scale)).astype(np.float32)


def quantized_rows(
    weight: Floats, *, bits: int = 8, floor: Floats | float = 0.0
) -> tuple[NDArray[np.int8], Floats]:
    """`weight` row by row as `int8 * scale`; nothing is cut off.

    Args:
        weight: float32[rows, columns].
        bits: 8, or 7 where two products are added up in 16 bits (AVX2).
        floor: the least scale, for all rows or float32[rows].

    Returns:
        int8[rows, columns] and float32[rows].
    """
    most = 2 ** (bits - 1) - 1
    scales = np.maximum(np.abs(weight).max(axis=1, initial=0.0) / most, floor)
    scales = np.where(scales >= _SMALLEST, scales, 1.0).astype(np.float32)
    return np.clip(np.rint(weight / scales[:, None]), -most, most).astype(np.int8), scales


def least_scales(bias: Floats, input_scale: float) -> Floats:
    """The least scale of each row of weights with which its bias fits into int32.

    Args:
        bias: float32[rows].
        input_scale: of what the weights are multiplied by.
    """
    return (np.abs(bias) / (np.float32(input_scale) * _MOST_OF_BIAS)).astype(np.float32)


def quantized_bias(bias: Floats, scales: Floats) -> NDArray[np.int32]:
    """A bias as int32 with the scales of the products that it is added to: input times weight."""
    return np.rint(bias.astype(np.float64) / scales).astype(np.int32)


def packed_blocks(weight: Floats, *, block: int, bits: int = 4) -> tuple[NDArray[np.uint8], Floats]:
    """`weight` in blocks of a row as `(unsigned - half) * scale`; 4 bits two a byte, low first.

    Args:
        weight: float32[rows, columns]; columns are filled up with zeros to whole blocks.
        block: columns that share a scale.
        bits: 4 or 8.

    Returns:
        uint8[rows, blocks, block * bits / 8] and float32[rows * blocks].
    """
    numbers, scales = quantized_blocks(weight, block=block, bits=bits)
    unsigned = (numbers.astype(np.int16) + 2 ** (bits - 1)).astype(np.uint8)
    if bits == 4:
        unsigned = unsigned[:, :, 0::2] | (unsigned[:, :, 1::2] << np.uint8(4))
    return unsigned.astype(np.uint8), scales.reshape(-1)


def quantized_blocks(weight: Floats, *, block: int, bits: int) -> tuple[NDArray[np.int8], Floats]:
    """`weight` in blocks of a row as `signed * scale`.

    Returns:
        int8[rows, blocks, block] and float32[rows, blocks].
    """
    most = 2 ** (bits - 1) - 1
    rows, columns = weight.shape
    padded = np.pad(weight, ((0, 0), (0, -columns % block)))
    blocks = padded.reshape(rows, -1, block)
    scales = np.abs(blocks).max(axis=2, initial=0.0) / most
    scales = np.where(scales >= _SMALLEST, scales, 1.0).astype(np.float32)
    numbers = np.clip(np.rint(blocks / scales[:, :, None]), -most - 1, most)
    return numbers.astype(np.int8), scales
