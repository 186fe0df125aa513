"""Weights as few-bit integers. Source: Jacob et al. 2018, eq. 1, with a zero point of 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optimizer.passes.kernels.site import Floats

_MOST = 127


def quantized_rows(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """`weight` row by row as `int8 * scale`.

    Args:
        weight: float32[rows, columns].

    Returns:
        int8[rows, columns] and float32[rows].
    """
    scales = np.abs(weight).max(axis=1) / _MOST
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)
    return np.rint(weight / scales[:, None]).astype(np.int8), scales


def packed_4_bit(weight: Floats, *, block: int) -> tuple[NDArray[np.uint8], Floats]:
    """`weight` in blocks of a row as `(uint4 - 8) * scale`, two numbers a byte, low half first.

    Args:
        weight: float32[rows, columns]; columns are filled up with zeros to whole blocks.
        block: columns that share a scale.

    Returns:
        uint8[rows, blocks, block / 2] and float32[rows * blocks].
    """
    rows, columns = weight.shape
    padded = np.pad(weight, ((0, 0), (0, -columns % block)))
    blocks = padded.reshape(rows, -1, block)
    scales = np.abs(blocks).max(axis=2) / 7
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)
    numbers = (np.clip(np.rint(blocks / scales[:, :, None]), -8, 7) + 8).astype(np.uint8)
    packed = numbers[:, :, 0::2] | (numbers[:, :, 1::2] << np.uint8(4))
    return packed.astype(np.uint8), scales.reshape(-1)
