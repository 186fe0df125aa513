"""Layouts as shapes: which axis goes where, and what blocks of channels fill up.

NC1HWC0 has C1 = ceil(C / C0) blocks of C0 channels, the last one filled up with zeros; NCHWc is
the same in memory. Source: formats of DaVinci (Huawei, Ascend C documentation); NeoCPU (Liu et al.
2019).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx_ir as ir

from optimizer.cost.sizes import Sizes

FIRST, LAST = "NCHW", "NHWC"
"""Channels first and last, however many spatial axes there are, also merged into one."""
BLOCKS = "blocks"
"""Stands for a target's own blocks, however long they are for a type."""


def order(written: str, wanted: str, rank: int) -> list[int]:
    """The permutation of a Transpose from one to the other, both `FIRST` or `LAST`."""
    if written == wanted:
        return [*range(rank)]
    if wanted == LAST:
        return [0, *range(2, rank), 1]
    return [0, rank - 1, *range(1, rank - 1)]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Channels in blocks.

    Attributes:
        channels: C.
        size: C0.
    """

    channels: int
    size: int

    @property
    def count(self) -> int:
        """C1."""
        return -(-self.channels // self.size)

    @property
    def filled(self) -> int:
        """Channels with those that fill up the last block."""
        return self.count * self.size

    @property
    def more(self) -> float:
        """How many times as many there are."""
        return self.filled / max(1, self.channels)

    @property
    def pads(self) -> list[int]:
        """Of Pad over NCHW."""
        return [0, 0, 0, 0, 0, self.filled - self.channels, 0, 0]

    def applied(self, data: np.ndarray) -> np.ndarray:
        """A constant [N, C, H, W] beside data in blocks; one for all channels stays one.

        Args:
            data: of rank 4 and with C channels or 1.

        Returns: [N, C1 or 1, H, W, C0 or 1]; what fills up is 1, by which nothing is divided.
        """
        if data.shape[1] == 1:
            return data[..., np.newaxis]
        pads = [(0, 0), (0, self.filled - self.channels), (0, 0), (0, 0)]
        filled = np.pad(data, pads, constant_values=np.ones((), data.dtype))
        batch, _, height, width = filled.shape
        cut = filled.reshape(batch, self.count, self.size, height, width)
        return np.ascontiguousarray(cut.transpose(0, 1, 3, 4, 2))


@dataclass(frozen=True, slots=True)
class Waste:
    """What filling up takes.

    Attributes:
        name: of the tensor.
        plain: its bytes.
        filled: in blocks.
    """

    name: str
    plain: int
    filled: int

    @property
    def bytes(self) -> int:
        """That hold nothing."""
        return self.filled - self.plain

    @property
    def share(self) -> float:
        """Of the plain bytes."""
        return self.bytes / self.plain if self.plain else 0.0


def wastes(values: Mapping[ir.Value, str], blocks: Mapping[int, int], sizes: Sizes) -> list[Waste]:
    """Images as blocks, each by itself.

    Args:
        values: of rank 4, others are left out; with `FIRST` or `LAST`, where their channels are.
        blocks: C0 by bits of an element.
        sizes: of free dimensions.
    """
    found: list[Waste] = []
    for value, layout in values.items():
        shape, dtype = sizes.shape(value), value.dtype
        if shape is None or len(shape) != 4 or dtype is None or dtype.bitwidth not in blocks:
            continue
        channels = shape[1 if layout == FIRST else -1]
        plain = prod(shape) * dtype.bitwidth // 8
        filled = plain // max(1, channels) * Blocks(channels, blocks[dtype.bitwidth]).filled
        found.append(Waste(value.name or "", plain, filled))
    return found
