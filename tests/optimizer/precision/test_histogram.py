"""Histograms lose nothing, however the numbers come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from optimizer.precision.float_formats import FORMATS
from optimizer.precision.histogram import (
    BINS,
    Histogram,
)
from optimizer.precision.ranges import Range

HALF = FORMATS["float16"]


def histogram_of(*batches: np.ndarray) -> Histogram:
    found = Histogram()
    for batch in batches:
        found.add(batch)
    return found


def growing_batches() -> list[np.ndarray]:
    generator = np.random.default_rng(1)
    scales = (1e-4, 0.3, 17.0, 2.0, 900.0)
    return [generator.standard_normal(5000).astype(np.float32) * scale for scale in scales]


def test_counts_are_those_of_numpy_over_the_same_edges() -> None:
    batches = growing_batches()
    found = histogram_of(*batches)
    edges = np.arange(-BINS, BINS + 1) * found.width
    everything = np.concatenate(batches).astype(np.float64)
    assert np.array_equal(found.signed, np.histogram(everything, edges)[0])
    assert np.array_equal(found.magnitudes, np.histogram(np.abs(everything), edges[BINS:])[0])
    assert found.range == Range(everything.min(), everything.max())


def test_batches_in_any_order_and_merged_give_the_same_as_all_at_once() -> None:
    batches = growing_batches()
    whole = histogram_of(np.concatenate(batches))
    backwards = histogram_of(*batches[::-1])
    merged = histogram_of(*batches[3:])
    merged.merge(histogram_of(*batches[:3]))
    for other in (backwards, merged):
        assert np.array_equal(other.counts, whole.counts)
        assert np.array_equal(other.exponents, whole.exponents)
        assert (other.width, other.low, other.high) == (whole.width, whole.low, whole.high)


def test_at_least_half_of_the_bins_lie_below_the_largest_number() -> None:
    for largest in (1e-30, 0.9999, 1.0, 1.0001, 3e38):
        found = histogram_of(np.array([largest], np.float32))
        (position,) = np.nonzero(found.magnitudes)[0]
        assert BINS // 2 <= position < BINS, largest


def test_what_is_not_finite_is_counted_apart_and_zeros_are_known() -> None:
    found = histogram_of(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0], np.float32))
    assert (found.nans, found.infinities, found.zeros, found.finite) == (1, 2, 2, 3)
    assert (found.seen, found.range, found.magnitude) == (6, Range(0.0, 2.0), 2.0)


def test_without_a_finite_number_there_is_no_range() -> None:
    assert histogram_of(np.array([np.nan, np.inf])).range is None
    assert Histogram().magnitude == 0.0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_of_any_float_type_are_counted(dtype: type[np.floating[Any]]) -> None:
    found = histogram_of(np.array([[-1.5, 0.25], [3.0, 0.0]], dtype))
    assert (found.finite, found.low, found.high) == (4, -1.5, 3.0)


def test_a_double_beyond_single_precision_counts_as_infinite() -> None:
    found = histogram_of(np.array([1e300, 1.0]))
    assert (found.infinities, found.high) == (1, 1.0)


def test_numbers_that_16_bits_blur_or_lose_are_counted() -> None:
    numbers = np.array([0.0, 1e-10, -1e-6, 6.1e-5, 6.2e-5, 1.0], np.float32)
    found = histogram_of(numbers)
    nonzero = np.abs(numbers[1:])
    assert (
        found.nonzero_below(HALF.smallest_normal)
        == int((nonzero < HALF.smallest_normal).sum())
        == 3
    )
    assert found.nonzero_below(HALF.smallest / 2) == 1
    with pytest.raises(ValueError, match="no power of two"):
        found.nonzero_below(3e-5)
