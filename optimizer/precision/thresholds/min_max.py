"""Everything that was seen."""

from __future__ import annotations

from optimizer.precision.histogram import Histogram
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers, method, saturated


@method("min-max", "Min-max", order=10)
def min_max(histogram: Histogram, integers: Integers) -> Range:
    """From the smallest to the largest number that was seen: nothing is clipped.

    One outlier widens the steps of all others. Formula: T = max |x|, or [min x, max x].

    Source: Jacob et al. 2018, Quantization and Training of Neural Networks, section 3.
    """
    return saturated(histogram, histogram.magnitude, integers)
