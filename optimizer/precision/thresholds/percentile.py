"""All but the few numbers that are farthest out."""

from __future__ import annotations

import math

import numpy as np

from optimizer.precision.histogram import Counts, Histogram
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers, method

SHARE = 0.9999
"""Of the numbers that are not clipped."""


@method("percentile", "Percentile 99.99", order=20)
def percentile(histogram: Histogram, integers: Integers) -> Range:
    """As little as holds 99.99 % of the numbers, to a bin.

    Symmetric: the least T with P(|x| <= T) >= 0.9999. Asymmetric: 0.005 % may be clipped at either
    end. T is the upper edge of its bin, and no farther out than the outermost number.

    Source: Wu et al. 2020, Integer Quantization for Deep Learning Inference, section 5.
    """
    if integers.symmetric:
        end = _edge(histogram.magnitudes, SHARE) * histogram.width
        end = min(end, histogram.magnitude)
        return Range(-end, end)
    share = (1 + SHARE) / 2
    width, origin = histogram.width, len(histogram.signed) // 2
    high = (_edge(histogram.signed, share) - origin) * width
    low = (origin - _edge(histogram.signed[::-1], share)) * width
    low, high = max(low, histogram.low), min(high, histogram.high)
    return Range(min(low, high), max(low, high))


def _edge(counts: Counts, share: float) -> int:
    """How many bins hold that share of all."""
    total = np.cumsum(counts)
    return int(np.searchsorted(total, math.ceil(share * int(total[-1])))) + 1
