from __future__ import annotations

import random
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import given, settings

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer
from optimizer.memory.intervals import read_intervals
from optimizer.memory.plan import check_plan, peak_bytes
from optimizer.memory.registry import Budget, make_plan
from optimizer.memory.search.problem import MOST_MEETINGS, problem_of, unit_bytes
from optimizer.memory.search.restarts import Restarts, minimum, orders
from optimizer.memory.search.state import FOUND, RULED_OUT
from tests.optimizer.memory.random_buffers import drawn_buffers, smallest_peak

INSTANCES = Path(__file__).parents[3] / "benchmarks" / "minimalloc"
CAPACITY = 1_048_576

ABOVE_ITS_BOUND = [
    Buffer(f"b{at}", size, start, end)
    for at, (size, start, end) in enumerate(
        [(5, 0, 4), (2, 4, 5), (2, 3, 6), (1, 3, 6), (3, 4, 8), (4, 6, 8), (1, 5, 9), (5, 8, 9)]
    )
]
"""At no step more than 8 bytes are alive, and yet 9 are needed."""


@settings(max_examples=60)
@given(drawn_buffers(most=7, last_step=8, largest=9, unit=3))
def test_the_exact_plan_is_the_smallest_there_is_and_says_so(buffers: list[Buffer]) -> None:
    plan = make_plan("exact", buffers, Budget(60))
    assert plan.peak_bytes == smallest_peak(buffers)
    assert plan.certificate is not None


@pytest.mark.long
@settings(max_examples=60)
@given(drawn_buffers(most=7, last_step=8, largest=9, unit=3))
def test_the_search_finds_the_smallest_arena_from_the_worst_of_plans(buffers: list[Buffer]) -> None:
    alive = [one for one in buffers if one.steps > 0 and one.size_bytes > 0]
    if not alive:
        return
    naive = make_plan("naive", alive)
    found = minimum(alive, naive.offsets, Budget(60))
    check_plan(alive, found.offsets)
    assert peak_bytes(alive, found.offsets) == smallest_peak(alive) == found.ruled_out_bytes


def test_a_minimum_above_the_bound_is_proven_by_exhausting_the_search() -> None:
    assert smallest_peak(ABOVE_ITS_BOUND) == 9
    plan = make_plan("exact", ABOVE_ITS_BOUND, Budget(60))
    assert (plan.bound_bytes, plan.peak_bytes) == (8, 9)
    assert plan.certificate == "search exhausted"


def test_a_plan_that_reaches_the_goal_is_not_called_the_smallest() -> None:
    plan = make_plan("exact", ABOVE_ITS_BOUND, Budget(60, goal_bytes=9))
    assert plan.peak_bytes == 9
    assert plan.certificate is None


@pytest.mark.parametrize("seed", range(30))
def test_a_capacity_for_which_there_is_a_plan_is_never_ruled_out(seed: int) -> None:
    buffers, capacity = _cut_from_a_full_arena(random.Random(seed))
    restarts = Restarts(problem_of(buffers), Budget(60))
    unit = unit_bytes(buffers)
    assert restarts.fits(capacity // unit, 20_000) != RULED_OUT


@pytest.mark.parametrize("name", ["C", "G", "H"])
def test_instances_of_minimalloc_fit(name: str) -> None:
    buffers = read_intervals(INSTANCES / f"{name}.1048576.csv")
    unit = unit_bytes(buffers)
    restarts = Restarts(problem_of(buffers), Budget(600))
    assert restarts.fits(CAPACITY // unit, 5000) == FOUND
    offsets = [int(offset) * unit for offset in restarts.offsets]
    check_plan(buffers, offsets)
    assert peak_bytes(buffers, offsets) <= CAPACITY


def test_a_seed_draws_the_same_orders_again_and_another_seed_others() -> None:
    problem = problem_of(read_intervals(INSTANCES / "C.1048576.csv"))
    first, again, other = ([list(r) for _, r in islice(orders(problem, s), 12)] for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_cancelled_search_keeps_the_plan_it_began_with() -> None:
    buffers = read_intervals(INSTANCES / "A.1048576.csv")
    plan = make_plan("exact", buffers, Budget(60, cancelled=lambda: True))
    assert plan.peak_bytes == make_plan("canonical", buffers).peak_bytes
    assert plan.certificate is None


def test_more_meetings_than_can_be_kept_are_not_searched() -> None:
    many = int(MOST_MEETINGS**0.5) + 2
    buffers = [Buffer(f"b{at}", 1 + at % 3, at % 2, 2 + at % 3) for at in range(many)]
    with pytest.raises(PlanError, match="too many to search"):
        problem_of(buffers)


def _cut_from_a_full_arena(drawn: random.Random) -> tuple[list[Buffer], int]:
    """An arena filled to the last byte at every step: the plan is known, then forgotten."""
    capacity, last, names = drawn.choice([24, 60, 200]), drawn.randint(4, 12), count()
    free, live, buffers = [(0, capacity)], list[tuple[int, int, int]](), list[Buffer]()
    for step in range(last):
        for low, high in free:
            while low < high:
                size = drawn.randint(1, min(high - low, capacity // 3))
                live.append((low, size, step))
                low += size
        ends = [one for one in live if step == last - 1 or drawn.random() < 0.3]
        live = [one for one in live if one not in ends]
        buffers += [Buffer(f"b{next(names)}", size, start, step + 1) for _, size, start in ends]
        free = [(low, low + size) for low, size, _ in ends]
    drawn.shuffle(buffers)
    return buffers, capacity
