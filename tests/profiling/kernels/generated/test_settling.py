from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiling.kernels.generated.settling import settle
from profiling.racing.samples import Contrast

NAMES = tuple("abcdefgh")


def race_of(worth: dict[str, float], *, width: float = 0.001, asked: list[int] | None = None):
    """What a race would find if every kernel made the network faster by its own share."""

    def compare(without: frozenset[str], kept: frozenset[str]) -> Contrast:
        speedup = math.exp(sum(worth[name] for name in kept - without))
        if asked is not None:
            asked.append(len(kept - without))
        return Contrast(speedup, speedup - width, speedup + width, 20, "no_clear_difference")

    return compare


def later() -> float:
    return time.monotonic() + 60


def test_kernels_that_all_pay_are_asked_about_once() -> None:
    asked: list[int] = []
    kept, parts = settle([NAMES], race_of(dict.fromkeys(NAMES, 0.02), asked=asked), ends=later())
    assert kept == frozenset(NAMES)
    assert asked == [8]
    assert [part.pays for part in parts] == [True]


def test_the_one_that_does_not_pay_is_found_by_halves_and_taken_back() -> None:
    worth = {**dict.fromkeys(NAMES, 0.01), "c": -0.2}
    asked: list[int] = []
    kept, parts = settle([NAMES], race_of(worth, asked=asked), ends=later())
    assert kept == frozenset(NAMES) - {"c"}
    assert [part.names for part in parts if not part.pays] == [("c",)]
    assert len(asked) < len(NAMES)


@given(st.lists(st.sampled_from([-0.05, -0.01, 0.01, 0.05]), min_size=1, max_size=8))
def test_what_stays_is_never_worse_than_nothing_or_everything(shares: list[float]) -> None:
    worth = dict(zip(NAMES, shares, strict=False))
    kept, _ = settle([tuple(worth)], race_of(worth, width=0.0), ends=later())
    found = sum(worth[name] for name in kept)
    assert found >= max(0.0, sum(shares)) - 1e-9


def test_what_is_undecided_when_time_is_over_stays() -> None:
    kept, parts = settle([NAMES], race_of(dict.fromkeys(NAMES, -0.1)), ends=time.monotonic() - 1)
    assert (kept, parts) == (frozenset(NAMES), ())


@pytest.mark.parametrize(("share", "stays"), [(0.0005, True), (-0.0005, False)])
def test_a_single_kernel_that_makes_no_clear_difference_stays_only_if_it_seems_faster(
    share: float, stays: bool
) -> None:
    kept, parts = settle([("a",)], race_of({"a": share}), ends=later())
    assert ("a" in kept) is stays
    assert parts[0].pays is stays
