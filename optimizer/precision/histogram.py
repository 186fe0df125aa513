"""How the numbers of a value are distributed, counted batch by batch without losing any.

Bins are of one width, a power of two, and begin at zero. When a number is too large for them, the
width doubles and neighbours are added up: what was counted stays exact, in whatever order batches
come, and two histograms can be put together. Nothing is ever spread over bins by interpolation.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optimizer.precision.ranges import Range

BINS = 2048
"""Of |x|, for either sign; at least half of them lie below the largest |x|."""

Counts = NDArray[np.int64]
Floats = NDArray[np.float32]

_BLOCK = 1 << 18
"""Numbers looked at together, so that what is in between stays in a cache."""
_LEAST_EXPONENT = -126
_EXPONENT_BIAS = 127
_MANTISSA_BITS = 23


class Histogram:
    """Numbers of one value, as float32: what is beyond its reach counts as infinite.

    Attributes:
        counts: int64[2, BINS]: of negative and of all other numbers by |x|, zeros among them.
        exponents: int64[256]: of |x|, finite or not, by the eight bits of its exponent.
        low: smallest finite number; infinite as long as there is none.
        high: largest finite number.
        zeros: exact zeros, which every format keeps.
        nans: are in no bin.
        infinities: are in no bin.
    """

    __slots__ = ("_exponent", "counts", "exponents", "high", "infinities", "low", "nans", "zeros")

    def __init__(self) -> None:
        self.counts: Counts = np.zeros((2, BINS), np.int64)
        self.exponents: Counts = np.zeros(256, np.int64)
        self.low, self.high = math.inf, -math.inf
        self.zeros = self.nans = self.infinities = 0
        self._exponent = _LEAST_EXPONENT

    @property
    def width(self) -> float:
        """Of a bin."""
        return math.ldexp(1.0, self._exponent)

    @property
    def finite(self) -> int:
        """Numbers in bins."""
        return int(self.counts.sum())

    @property
    def seen(self) -> int:
        """All numbers."""
        return self.finite + self.nans + self.infinities

    @property
    def magnitude(self) -> float:
        """The largest finite |x|; 0 as long as there is none."""
        return max(abs(self.low), abs(self.high)) if self.low <= self.high else 0.0

    @property
    def range(self) -> Range | None:
        """From the smallest to the largest number; None as long as there is none."""
        return Range(self.low, self.high) if self.low <= self.high else None

    @property
    def magnitudes(self) -> Counts:
        """int64[BINS] of |x|, for formats that are symmetric about zero."""
        return self.counts.sum(axis=0)

    @property
    def signed(self) -> Counts:
        """int64[2 * BINS] of x, from the most negative bin up; zero begins at BINS."""
        return np.concatenate([self.counts[0, ::-1], self.counts[1]])

    def add(self, values: NDArray[np.generic]) -> None:
        """Count an array of floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            flat = np.ascontiguousarray(values).reshape(-1).astype(np.float32, copy=False)
        for start in range(0, flat.size, _BLOCK):
            self._add(flat[start : start + _BLOCK])

    def merge(self, other: Histogram) -> None:
        """Add what another one counted."""
        exponent = max(self._exponent, other._exponent)
        self._widen(exponent)
        self.counts += _widened(other.counts, exponent - other._exponent)
        self.exponents += other.exponents
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.zeros += other.zeros
        self.nans += other.nans
        self.infinities += other.infinities

    def nonzero_below(self, limit: float) -> int:
        """Numbers other than zero with |x| < `limit`, a power of two that is a normal float32."""
        fraction, exponent = math.frexp(limit)
        if fraction != 0.5:
            raise ValueError(f"{limit} is no power of two")
        return int(self.exponents[: exponent - 1 + _EXPONENT_BIAS].sum()) - self.zeros

    def _add(self, block: Floats) -> None:
        magnitude = np.abs(block)
        bits = magnitude.view(np.uint32) >> _MANTISSA_BITS
        exponents = np.bincount(bits, minlength=256)
        self.exponents += exponents
        if exponents[255]:
            finite = np.isfinite(block)
            nans = int(np.isnan(block).sum())
            self.nans += nans
            self.infinities += int(exponents[255]) - nans
            block, magnitude = block[finite], magnitude[finite]
            if not block.size:
                return
        self.low = min(self.low, float(block.min()))
        self.high = max(self.high, float(block.max()))
        self.zeros += block.size - int(np.count_nonzero(block))
        self._widen(_exponent_for(float(magnitude.max())))
        index = (magnitude * np.float32(1 / self.width)).astype(np.int32)
        index += np.multiply(block >= 0, BINS, dtype=np.int32)
        self.counts += np.bincount(index, minlength=2 * BINS).reshape(2, BINS)

    def _widen(self, exponent: int) -> None:
        """Double the width until it is two to the power of `exponent`, or leave it."""
        if exponent > self._exponent:
            self.counts = _widened(self.counts, exponent - self._exponent)
            self._exponent = exponent


def _exponent_for(magnitude: float) -> int:
    """Of the least width at which `magnitude` falls into a bin."""
    _, exponent = math.frexp(magnitude)  # magnitude < 2 ** exponent
    return max(_LEAST_EXPONENT, exponent - (BINS - 1).bit_length()) if magnitude else -126


def _widened(counts: Counts, doublings: int) -> Counts:
    """The counts in bins that are `2 ** doublings` as wide, as far as there are any."""
    together = 1 << min(doublings, (BINS - 1).bit_length())
    wide = np.zeros_like(counts)
    wide[:, : BINS // together] = counts.reshape(2, -1, together).sum(axis=2)
    return wide
