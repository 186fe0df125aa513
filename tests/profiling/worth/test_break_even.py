from __future__ import annotations

from math import inf

import pytest

from profiling.racing.samples import Contrast, Verdict
from profiling.worth.break_even import BreakEven, Upfront, break_even
from tests.profiling.worth.test_levels import heat


def case(
    speedup: tuple[float, float, float], verdict: Verdict, *, before: Upfront, after: Upfront
) -> BreakEven:
    estimate, low, high = speedup
    return BreakEven(before, after, 10.0, Contrast(estimate, low, high, 20, verdict))


def test_optimizing_pays_after_its_extra_time_divided_by_what_each_inference_saves() -> None:
    found = case(
        (2.0, 1.25, 5.0),
        "faster",
        before=Upfront(create_s=0.5, first_s=0.1),
        after=Upfront(optimize_s=1.0, tune_s=0.5, create_s=0.4, first_s=0.2),
    )
    assert found.extra_s == pytest.approx(1.5)
    assert found.inferences == pytest.approx(1.5 / 0.005)
    assert found.interval == pytest.approx((1.5 / 0.008, 1.5 / 0.002))
    assert found.saved_s(found.inferences) == pytest.approx(0)
    assert str(found) == "Optimizing pays after 300 inferences, 95 % interval 188 to 750"


def test_it_pays_at_once_when_the_optimized_model_is_also_ready_sooner() -> None:
    found = case(
        (2.0, 1.9, 2.1),
        "faster",
        before=Upfront(create_s=2.0),
        after=Upfront(optimize_s=0.5, create_s=0.5),
    )
    assert found.inferences == 0
    assert found.interval == (0, 0)
    assert str(found) == "Optimizing pays from the first inference on"


def test_it_never_pays_without_a_clear_difference() -> None:
    cheap = Upfront(create_s=0.1)
    unclear = case((1.02, 0.99, 1.05), "no_clear_difference", before=cheap, after=Upfront(1.0))
    assert unclear.inferences == inf
    assert str(unclear) == "Optimizing never pays, at the measured difference"
    slower = case((0.8, 0.7, 0.9), "slower", before=cheap, after=Upfront(1.0))
    assert slower.interval == (inf, inf)
    assert "takes longer" in str(slower)


def test_a_race_without_times_has_no_break_even() -> None:
    race = heat((0, 12), rounds=0, seed=0).race
    assert break_even(race, optimize_s=1.0) is None
