"""Work that a worker process shares with forks of itself."""

from __future__ import annotations

import pytest

from optimizer.limits import JobLimits
from profiling.workers import default_pool
from profiling.workers.forks import MOST_ITEMS, forked_map
from tests.profiling import jobs

LIMITS = JobLimits(seconds=60)


def test_two_processes_do_two_items_at_once() -> None:
    first, second, asked = default_pool()(jobs.meeting, limits=LIMITS)
    assert first != second
    assert asked in (first, second)


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 3, 1000])
def test_answers_come_in_the_order_of_the_items_and_no_process_is_left(
    count: int, processes: int
) -> None:
    found, left = default_pool()(jobs.squares, count, processes, limits=LIMITS)
    assert found == [number * number for number in range(count)]
    assert left == []


def test_items_of_a_fork_that_dies_are_done_here() -> None:
    found, left = default_pool()(jobs.squares_by_forks_that_die, 100, limits=LIMITS)
    assert found == [number * number for number in range(100)]
    assert left == []


@pytest.mark.parametrize("numbers", [(0,), (0, 1, 1), (1, 1, 1, 0)])
def test_what_an_item_raises_is_raised(numbers: tuple[int, ...]) -> None:
    assert default_pool()(jobs.reciprocals, numbers, limits=LIMITS) == ("division by zero", [])


def test_a_process_with_threads_is_not_forked() -> None:
    assert default_pool()(jobs.processes_beside_a_thread, limits=LIMITS) == {0}


@pytest.mark.parametrize("told", [0, 1, 7, 10])
def test_a_fork_beside_tells_its_answers_until_it_is_ended(told: int) -> None:
    found, left = default_pool()(jobs.squares_beside, 10, told, limits=LIMITS)
    assert found == [number * number for number in range(told)]
    assert left == []


@pytest.mark.parametrize(("kind", "told"), [("ends", 3), ("raises", 1), ("dies", 1)])
def test_what_a_fork_beside_had_told_when_it_ended_is_known(kind: str, told: int) -> None:
    found, left = default_pool()(jobs.beside_this, kind, limits=LIMITS)
    assert [len(answer) - (1 << 20) for answer in found] == list(range(told))
    assert left == []


def test_a_process_with_threads_has_no_fork_beside_it() -> None:
    assert default_pool()(jobs.beside_a_thread, limits=LIMITS) == []


def test_more_items_than_a_pipe_takes_are_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        forked_map(str, range(MOST_ITEMS + 1))
