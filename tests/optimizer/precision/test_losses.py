"""What ranges cost, beside the same computed from the numbers themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optimizer.precision.histogram import Histogram
from optimizer.precision.losses import channel_losses, loss_of
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers


def histogram_of(numbers: np.ndarray) -> Histogram:
    found = Histogram()
    found.add(numbers)
    return found


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.5), (0.0, 1.0), (-9.0, 9.0)])
def test_clipping_and_rounding_are_those_of_the_numbers_themselves(low: float, high: float) -> None:
    numbers = np.random.default_rng(3).standard_normal(200_000)
    numbers[::3] = 0.0
    found = loss_of(histogram_of(numbers), Range(low, high), Integers())
    inside = (numbers >= low) & (numbers <= high)
    step = (high - low) / 255
    kept = np.clip(np.round(numbers / step) * step, low, high) - numbers
    assert found.clipped == pytest.approx(1 - inside.mean(), abs=1e-3)
    assert found.rounding == pytest.approx((kept[inside] ** 2).sum() / numbers.size, rel=0.02)
    assert found.clipping == pytest.approx((kept[~inside] ** 2).sum() / numbers.size, rel=0.02)
    assert found.signal == pytest.approx((numbers**2).mean(), rel=1e-3)
    noise = found.rounding + found.clipping
    assert found.sqnr_db == pytest.approx(10 * math.log10(found.signal / noise))


def test_a_range_that_holds_everything_clips_nothing() -> None:
    numbers = np.linspace(-1, 1, 999)
    found = loss_of(histogram_of(numbers), Range(-1.0, 1.0), Integers())
    assert (found.clipped, found.clipping) == (0.0, 0.0)


def test_numbers_that_are_all_zero_lose_nothing() -> None:
    found = loss_of(histogram_of(np.zeros(9)), Range(0.0, 0.0), Integers())
    assert (found.rounding, found.clipping, found.sqnr_db) == (0.0, 0.0, math.inf)


def test_a_range_a_channel_loses_less_than_one_for_all() -> None:
    weights = (
        np.random.default_rng(0).standard_normal((4, 3, 3))
        * np.array([1, 2, 4, 100.0])[:, None, None]
    )
    found = channel_losses(weights, 0)
    assert found.magnitudes == pytest.approx(np.abs(weights).reshape(4, -1).max(axis=1))
    step = found.magnitudes[:, None, None] / 127
    by_hand = ((np.round(weights / step) * step - weights) ** 2).mean()
    assert found.per_channel.rounding == pytest.approx(by_hand)
    assert found.per_channel.rounding < found.per_tensor.rounding
    assert found.per_channel.clipped == 0.0


def test_a_channel_of_zeros_stays_zero() -> None:
    assert channel_losses(np.zeros((2, 5)), 1).per_channel.rounding == 0.0
