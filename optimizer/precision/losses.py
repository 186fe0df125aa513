"""What a range costs: how much is clipped, and how large both errors are. The data of a figure.

Activations saturate: their range is chosen, and what lies outside becomes its end. Weights do not:
each channel has the range of its own largest number, and nothing is clipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.precision.histogram import BINS, Histogram
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Loss:
    """Of the numbers of one value in one range.

    Attributes:
        clipped: share of the numbers outside, 0 to 1.
        rounding: mean squared error of those inside, over all numbers.
        clipping: mean squared error of those outside, over all numbers.
        signal: mean square of the numbers themselves.
    """

    clipped: float
    rounding: float
    clipping: float
    signal: float

    @property
    def sqnr_db(self) -> float:
        """Signal over error; infinite where nothing is lost."""
        noise = self.rounding + self.clipping
        return 10 * math.log10(self.signal / noise) if noise and self.signal else math.inf


def loss_of(histogram: Histogram, kept: Range, integers: Integers) -> Loss:
    """What is lost of an activation, the numbers of a bin taken as its middle, zeros as zeros.

    Args:
        histogram: of its numbers.
        kept: the range it saturates in; one that does not hold zero is widened to it.
        integers: what the range is divided into.
    """
    if histogram.range is None:
        return Loss(0.0, 0.0, 0.0, 0.0)
    total = histogram.finite
    counts = histogram.signed
    counts[BINS] -= histogram.zeros
    middles = (np.arange(-BINS, BINS) + 0.5) * histogram.width
    middles = np.clip(middles, histogram.low, histogram.high)
    low, high = min(kept.low, 0.0), max(kept.high, 0.0)
    beyond = np.maximum(np.maximum(low - middles, middles - high), 0.0)
    outside = int(counts[beyond > 0].sum())
    inside = total - histogram.zeros - outside
    step = (high - low) / integers.steps
    return Loss(
        clipped=outside / total,
        rounding=step**2 / 12 * inside / total,
        clipping=float((counts * beyond**2).sum()) / total,
        signal=float((counts * middles**2).sum()) / total,
    )


@dataclass(frozen=True, slots=True)
class ChannelLosses:
    """Of a weight in whole numbers, each channel with a range of its own, and with one for all.

    Attributes:
        magnitudes: float64[channels], the largest |w| of each: its symmetric range.
        per_channel: over all weights; nothing is clipped.
        per_tensor: the same with the largest of the ranges for every channel.
    """

    magnitudes: Floats
    per_channel: Loss
    per_tensor: Loss


def channel_losses(weights: NDArray[np.generic], axis: int, *, bits: int = 8) -> ChannelLosses:
    """What is lost of a weight, by rounding it: not an estimate.

    Args:
        weights: floats, all finite.
        axis: of the channels.
        bits: of the symmetric whole numbers.
    """
    rows = np.moveaxis(weights.astype(np.float64), axis, 0).reshape(weights.shape[axis], -1)
    magnitudes = np.abs(rows).max(axis=1, initial=0.0)
    steps = Integers(bits, symmetric=True).steps / 2
    whole = np.full_like(magnitudes, magnitudes.max(initial=0.0))
    return ChannelLosses(
        magnitudes, _rounded(rows, magnitudes / steps), _rounded(rows, whole / steps)
    )


def _rounded(rows: Floats, steps: Floats) -> Loss:
    """The error of rows that are rounded to multiples of their steps."""
    size = np.where(steps > 0, steps, 1.0)[:, None]
    error = np.round(rows / size) * size - rows
    count = max(1, rows.size)
    return Loss(0.0, float((error**2).sum()) / count, 0.0, float((rows**2).sum()) / count)
