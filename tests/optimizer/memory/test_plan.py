"""The sweep that checks plans, against one that compares everything with everything."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer, live_curve, lower_bound
from optimizer.memory.plan import certificate_of, check_plan, peak_bytes
from tests.optimizer.memory.random_buffers import drawn_buffers


@given(drawn_buffers(most=12, last_step=6, largest=3, unit=1), st.data())
def test_a_plan_is_refused_exactly_when_two_live_buffers_share_a_byte(
    buffers: list[Buffer], data: st.DataObject
) -> None:
    offsets = [data.draw(st.integers(0, 12)) for _ in buffers]
    shares = any(
        first.meets(second)
        and max(low, high) < min(low + first.size_bytes, high + second.size_bytes)
        for (first, low), (second, high) in combinations(zip(buffers, offsets, strict=True), 2)
    )
    if shares:
        with pytest.raises(PlanError, match="into the same bytes at step"):
            check_plan(buffers, offsets)
    else:
        check_plan(buffers, offsets)


@given(drawn_buffers())
def test_the_bound_is_the_most_alive_at_any_step(buffers: list[Buffer]) -> None:
    alive = [sum(b.size_bytes for b in buffers if b.start <= step < b.end) for step in range(25)]
    assert lower_bound(buffers) == max(alive)
    curve = live_curve(buffers)
    assert alive[curve.peak_step] == curve.peak_bytes
    for step, live in zip(curve.steps, curve.live_bytes, strict=True):
        assert alive[step] == live


def test_the_check_names_both_buffers_and_the_step() -> None:
    buffers = [Buffer("a", 8, 0, 4), Buffer("b", 8, 2, 6)]
    with pytest.raises(PlanError, match="'a' and 'b' into the same bytes at step 2"):
        check_plan(buffers, [0, 7])
    check_plan(buffers, [0, 8])
    check_plan(buffers, [8, 0])


def test_offsets_have_to_be_there_and_not_below_zero() -> None:
    with pytest.raises(PlanError, match="1 offsets for 2 buffers"):
        check_plan([Buffer("a", 1, 0, 1), Buffer("b", 1, 1, 2)], [0])
    with pytest.raises(PlanError, match="'a' at -1, below 0"):
        check_plan([Buffer("a", 1, 0, 1)], [-1])


def test_a_buffer_without_a_life_does_not_count_for_the_peak() -> None:
    assert peak_bytes([Buffer("a", 8, 3, 3), Buffer("b", 4, 0, 1)], [100, 0]) == 4


def test_a_certificate_needs_the_bound_or_an_exhausted_search() -> None:
    buffers = [Buffer("a", 8, 0, 2), Buffer("b", 8, 1, 3)]
    assert certificate_of(buffers, 16) == "meets the bound"
    assert certificate_of(buffers, 16, exhausted=True) == "meets the bound"
    assert certificate_of(buffers, 24, exhausted=True) == "search exhausted"
    assert certificate_of(buffers, 24) is None
