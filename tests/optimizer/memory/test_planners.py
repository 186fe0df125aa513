from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given, settings

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.planners.canonical import PRIORITIES
from optimizer.memory.registry import Budget, find_planner, make_plan, planners
from tests.optimizer.memory.random_buffers import drawn_buffers, smallest_peak

FAST = [known.id for known in planners() if known.speed == "fast"]
ALL = [known.id for known in planners()]

FIVE = [
    Buffer("b1", 4, 0, 3),
    Buffer("b2", 4, 3, 9),
    Buffer("b3", 4, 0, 9),
    Buffer("b4", 4, 9, 21),
    Buffer("b5", 4, 0, 21),
]
"""Two long lives and three that take turns: 12 bytes are alive at once, and 12 are enough."""


@pytest.mark.parametrize("planner_id", ALL)
@settings(max_examples=40)
@given(drawn_buffers())
def test_a_plan_is_valid_and_no_smaller_than_the_bound(
    planner_id: str, buffers: list[Buffer]
) -> None:
    plan = make_plan(planner_id, buffers, Budget(seconds=0.05))
    assert plan.bound_bytes <= plan.peak_bytes <= make_plan("naive", buffers).peak_bytes
    assert (plan.certificate == "meets the bound") == (plan.peak_bytes == plan.bound_bytes)


@pytest.mark.parametrize("planner_id", ALL)
@settings(max_examples=40)
@given(drawn_buffers(most=6, last_step=6, largest=4, unit=1))
def test_no_plan_beats_the_smallest_arena_there_is(planner_id: str, buffers: list[Buffer]) -> None:
    smallest = smallest_peak(buffers)
    plan = make_plan(planner_id, buffers, Budget(seconds=0.05))
    assert plan.peak_bytes >= smallest
    if plan.certificate is not None:
        assert plan.peak_bytes == smallest


@given(drawn_buffers(most=4, last_step=4, largest=3, unit=1))
def test_the_smallest_arena_is_what_every_grid_of_offsets_says(buffers: list[Buffer]) -> None:
    """The brute force of these tests against one that knows nothing: all offsets there are."""
    assert smallest_peak(buffers) == _smallest_on_the_grid(buffers)


def _smallest_on_the_grid(buffers: list[Buffer]) -> int:
    peak = lower_bound(buffers)
    while not _fits(buffers, [], peak):
        peak += 1
    return peak


def _fits(buffers: list[Buffer], offsets: list[int], peak: int) -> bool:
    if len(offsets) == len(buffers):
        return True
    buffer = buffers[len(offsets)]
    if not buffer.steps or not buffer.size_bytes:
        return _fits(buffers, [*offsets, 0], peak)
    return any(
        _fits(buffers, [*offsets, offset], peak)
        for offset in range(peak - buffer.size_bytes + 1)
        if all(
            not buffer.meets(other)
            or offset + buffer.size_bytes <= at
            or at + other.size_bytes <= offset
            for other, at in zip(buffers, offsets, strict=False)
        )
    )


def test_a_buffer_without_a_life_meets_nobody() -> None:
    assert not Buffer("a", 1, 1, 1).meets(Buffer("b", 1, 0, 2))
    assert not Buffer("b", 1, 0, 2).meets(Buffer("a", 1, 1, 1))


@pytest.mark.parametrize("planner_id", [planner for planner in ALL if planner != "naive"])
def test_five_buffers_fit_into_twelve_bytes(planner_id: str) -> None:
    plan = make_plan(planner_id, FIVE)
    assert (plan.peak_bytes, plan.certificate) == (12, "meets the bound")


@pytest.mark.parametrize("planner_id", ALL)
@pytest.mark.parametrize(
    "buffers",
    [[], [Buffer("a", 0, 0, 5)], [Buffer("a", 64, 3, 3)], [Buffer("a", 7, -5, -1)]],
    ids=["none", "no bytes", "no life", "before step 0"],
)
def test_little_or_nothing_to_plan_is_planned(planner_id: str, buffers: list[Buffer]) -> None:
    plan = make_plan(planner_id, buffers, Budget(seconds=0.05))
    assert len(plan.offsets) == len(buffers)
    assert plan.certificate == "meets the bound" or planner_id == "naive"


@pytest.mark.parametrize("planner_id", FAST)
def test_a_fast_planner_answers_the_same_twice(planner_id: str) -> None:
    drawn = random.Random(4)
    buffers = [
        Buffer(str(i), drawn.randrange(1, 9) * 64, start := drawn.randrange(99), start + 9)
        for i in range(300)
    ]
    assert make_plan(planner_id, buffers).offsets == make_plan(planner_id, buffers).offsets


def test_the_runtime_fills_the_end_of_its_block_like_the_lazy_allocator() -> None:
    """At step 1 the first and the last block are free; the last fits better."""
    buffers = [Buffer("a", 16, 0, 1), Buffer("b", 1, 0, 3), Buffer("c", 8, 0, 1)]
    buffers.append(Buffer("d", 8, 1, 2))
    assert make_plan("lazy-best-fit", buffers).offsets == (0, 16, 17, 17)
    assert make_plan("runtime-pattern", buffers).offsets == (0, 16, 17, 17)


def test_greedy_by_size_takes_the_smallest_gap() -> None:
    """At step 1 gaps of 5 and of 4 bytes lie between what was placed before."""
    buffers = [
        *(Buffer("floor", 9, 0, 9), Buffer("low", 5, 0, 1), Buffer("middle", 8, 0, 9)),
        *(Buffer("high", 4, 0, 1), Buffer("top", 7, 0, 9), Buffer("late", 3, 1, 2)),
    ]
    plan = make_plan("greedy-by-size", buffers)
    assert plan.offsets == (0, 24, 9, 29, 17, 24)


def test_greedy_by_breadth_starts_with_the_most_crowded_step() -> None:
    """Three that stay and three that go make step 0 the most crowded; then comes the largest."""
    stay = [Buffer(f"stay{i}", 4, 0, 2) for i in range(3)]
    go = [Buffer(f"go{i}", 3, 0, 1) for i in range(3)]
    buffers = [Buffer("large", 6, 1, 3), *stay, *go]
    assert make_plan("greedy-by-breadth", buffers).offsets == (12, 0, 4, 8, 12, 15, 18)
    assert make_plan("greedy-by-size", buffers).offsets == (0, 6, 10, 14, 0, 3, 18)


def test_canonical_says_which_priority_won() -> None:
    assert make_plan("canonical", FIVE).note == f"Priority {PRIORITIES[0]}."


def test_the_order_of_the_buffers_does_not_decide_whether_the_bound_is_met() -> None:
    for buffers in permutations(FIVE):
        assert make_plan("canonical", buffers).peak_bytes == 12


def test_more_than_four_exabytes_are_refused() -> None:
    buffers = [Buffer(str(i), 1 << 60, 0, 1) for i in range(5)]
    with pytest.raises(PlanError, match="4 EiB"):
        make_plan("naive", buffers)


@pytest.mark.parametrize(
    "buffer", [Buffer("odd", -1, 0, 1), Buffer("odd", 1, 5, 4), Buffer("odd", 1, 0, 1 << 63)]
)
def test_odd_numbers_are_refused_by_name(buffer: Buffer) -> None:
    with pytest.raises(PlanError, match="'odd'"):
        make_plan("greedy-by-size", [buffer])


def test_an_unknown_planner_is_answered_with_those_there_are() -> None:
    with pytest.raises(PlanError, match=r"'clever'.*lazy-best-fit"):
        find_planner("clever")
