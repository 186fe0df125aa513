"""The range whose 128 levels tell most of what the distribution does."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from optimizer.precision.histogram import BINS, Counts, Histogram
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers, method, saturated

LEVELS = 128

Floats = NDArray[np.float64]


@method("entropy", "Entropy", order=30)
def entropy(histogram: Histogram, integers: Integers) -> Range:
    """The threshold at which quantizing loses least information, by Kullback and Leibler.

    Over the bins of |x|, exact zeros left out, for i = 128 … 2048: P is the first i bins, what lies
    beyond added to its last one; Q is the first i bins without that, bin j added up into level
    floor(128 j / i) and spread evenly over those bins of the level that are not empty.
    T = (i + 1/2) · width for the i with the least KL(P ‖ Q) = Σ p log(p / q), the largest of equal
    ones. Where the last bin is empty and something lies beyond, q = 0 < p: such an i is none.

    The search is the same for any number of bits; values in an asymmetric range keep its T.

    Source: Migacz 2017, 8-bit Inference with TensorRT. Zeros are left out because every format
    keeps them, while a spike in the first bin makes the search clip whatever it can.
    """
    counts = histogram.magnitudes
    counts[0] -= histogram.zeros
    bins = best_bins(counts)
    return saturated(histogram, (bins + 0.5) * histogram.width, integers)


def best_bins(counts: Counts) -> int:
    """How many bins are kept; all there are where no search is possible.

    Args:
        counts: int64[BINS].
    """
    divergences = kl_divergences(counts)
    if not np.isfinite(divergences).any():
        return len(counts)
    return len(counts) - int(np.argmin(divergences[::-1]))


def kl_divergences(counts: Counts) -> Floats:
    """KL(P ‖ Q) for LEVELS, LEVELS + 1, … BINS bins, from sums over whole levels.

    With c the counts, S and N the sum and the number of bins that are not empty in a level, C the
    numbers in i bins, O those beyond and T = C + O:
    T · Σ p log p = Σ_{j<i-1} c log c + (c + O) log(c + O) − T log T and
    T · Σ p log q = Σ_levels S log(S / (N C)) + O log q of the last bin.
    """
    total = int(counts.sum())
    if not total:
        return np.full(BINS - LEVELS + 1, np.inf)
    numbers = np.concatenate([[0], np.cumsum(counts)])
    filled = np.concatenate([[0], np.cumsum(counts > 0)])
    plogp = np.concatenate([[0.0], np.cumsum(_times_log(counts))])
    sizes, edges = _candidates()
    inside, last = numbers[sizes], counts[sizes - 1]
    beyond = total - inside
    sums, bins = np.diff(numbers[edges], axis=1), np.diff(filled[edges], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(sums / bins) - np.log(inside)[:, None]
        explained = np.where(sums > 0, sums * logs, 0.0).sum(axis=1)
        of_last = np.where(last > 0, logs[:, -1], -np.inf)
        explained += np.where(beyond > 0, beyond * of_last, 0.0)
    certain = plogp[sizes - 1] + _times_log(last + beyond) - total * np.log(total)
    return np.where(inside > 0, (certain - explained) / total, np.inf)


def _times_log(counts: Counts) -> Floats:
    numbers = counts.astype(np.float64)
    return numbers * np.log(np.maximum(numbers, 1.0))


@cache
def _candidates() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of bins that may be kept, and for each the bins at which its levels begin and end."""
    sizes = np.arange(LEVELS, BINS + 1)
    levels = np.arange(LEVELS + 1)
    return sizes, -(-sizes[:, None] * levels // LEVELS)
