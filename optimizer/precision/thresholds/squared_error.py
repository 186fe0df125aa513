"""The range at which rounding and clipping together cost least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optimizer.precision.histogram import BINS, Counts, Histogram
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers, method

_COARSE = 32
"""Bins from one candidate to the next where both ends are free; then all between the best."""

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@method("mse", "Squared error", order=40)
def squared_error(histogram: Histogram, integers: Integers) -> Range:
    """The range with the least expected squared error.

    E(T) = Δ²/12 · P(0 < |x| ≤ T) + E[(|x| − T)²; |x| > T], Δ the width of a step: 2T/254 in 8
    bits, or (h − l)/255 with both ends free, each with its own clipping. Candidates are edges of
    bins, and the outermost numbers; numbers in a bin count as its middle.

    Source: Sakr et al. 2022, Optimal Clipping and Magnitude-aware Differentiation (OCTAV), eq. 3;
    Banner et al. 2019, Post-training 4-bit Quantization (ACIQ), for its optima.
    """
    if integers.symmetric:
        low = high = _symmetric_end(histogram, integers)
        outermost = histogram.magnitude, histogram.magnitude
    else:
        low, high = _both_ends(histogram, integers)
        outermost = max(0.0, -histogram.low), max(0.0, histogram.high)
    width = histogram.width
    return Range(0.0 - min(low * width, outermost[0]), min(high * width, outermost[1]))


class _Side:
    """Numbers on one side of zero, in widths of a bin: what clipping at an edge costs."""

    def __init__(self, counts: Counts, zeros: int) -> None:
        counts = counts.copy()
        middles = np.arange(BINS) + 0.5
        counts[0] -= zeros
        self.used = int(np.max(np.nonzero(counts)[0] + 1, initial=0))
        self._moments = [
            np.concatenate([[0.0], np.cumsum(counts * middles**power)]) for power in range(3)
        ]

    def inside(self, edges: Indices) -> Floats:
        """Numbers below each edge, zeros left out."""
        return self._moments[0][edges]

    def clipped(self, edges: Indices) -> Floats:
        """Sum of (x − edge)² over the numbers beyond each edge."""
        number, first, second = (moment[-1] - moment[edges] for moment in self._moments)
        return np.maximum(0.0, second - 2 * edges * first + edges**2 * number)


def _symmetric_end(histogram: Histogram, integers: Integers) -> int:
    """Bins of |x| that are kept."""
    side = _Side(histogram.magnitudes, histogram.zeros)
    ends = np.arange(side.used + 1)
    rounding = (2 * ends / integers.steps) ** 2 / 12
    return int(np.argmin(rounding * side.inside(ends) + side.clipped(ends)))


def _both_ends(histogram: Histogram, integers: Integers) -> tuple[int, int]:
    """Bins that are kept below zero and above."""
    sides = _Side(histogram.counts[0], 0), _Side(histogram.counts[1], histogram.zeros)

    def best(lows: Indices, highs: Indices) -> tuple[int, int]:
        step = (lows[:, None] + highs) / integers.steps
        inside = sides[0].inside(lows)[:, None] + sides[1].inside(highs)
        clipped = sides[0].clipped(lows)[:, None] + sides[1].clipped(highs)
        row, column = divmod(int(np.argmin(step**2 / 12 * inside + clipped)), len(highs))
        return int(lows[row]), int(highs[column])

    coarse = best(*(_edges(0, side.used, _COARSE) for side in sides))
    near = (
        _edges(max(0, end - _COARSE), min(side.used, end + _COARSE), 1)
        for end, side in zip(coarse, sides, strict=True)
    )
    return best(*near)


def _edges(first: int, last: int, step: int) -> Indices:
    return np.append(np.arange(first, last, step), last)
