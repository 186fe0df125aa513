from __future__ import annotations

from dataclasses import replace

import pytest

from profiling.timeline.balance import balance
from profiling.timeline.events import Event, Run
from profiling.timeline.stretches import Stretches, typical


def event(node: str, start: float, duration: float, thread: int = 1) -> Event:
    return Event(node, "Op", "", start, duration, thread, 0, 0, 0, 0, None)


PLAIN = Run(100, 100, (event("a", 110, 20), event("b", 135, 30)), 105, 80)
BODY = Run(0, 100, (event("loop", 10, 50), event("c", 15, 10), event("d", 30, 30)), 5, 90)
UNTOLD = replace(PLAIN, executor_start_us=0, executor_us=0)
SIDE_BY_SIDE = Run(0, 30, (event("a", 0, 20), event("b", 10, 15, thread=2)))


@pytest.mark.parametrize("run", [PLAIN, BODY, UNTOLD, Run(3, 9, ()), Run(3, 9, (), 4, 5)])
def test_a_run_is_put_together_again_from_its_stretches(run: Run) -> None:
    found = Stretches.of(run)
    assert found is not None
    assert sum(found.lengths_us) == run.duration_us
    assert found.run(run) == run


def test_each_stretch_says_what_went_on() -> None:
    found = Stretches.of(BODY)
    assert found is not None
    assert found.each_us("work") == [5, 10, 30]
    assert found.each_us("rest of a body") == [5, 0]
    assert found.each_us("dispatch") == [5]
    assert found.each_us("between") == [35]
    assert found.total_us("around") == 10


def test_operators_side_by_side_are_no_row_of_stretches() -> None:
    assert Stretches.of(SIDE_BY_SIDE) is None


def delayed(run: Run, number: int, by_us: float) -> Run:
    """The same with one operator longer, and all later ones by as much later."""
    events = [
        replace(
            one,
            start_us=one.start_us + (by_us if index > number else 0),
            duration_us=one.duration_us + (by_us if index == number else 0),
        )
        for index, one in enumerate(run.events)
    ]
    longer = replace(run, duration_us=run.duration_us + by_us, events=tuple(events))
    return replace(longer, executor_us=run.executor_us + by_us)


def test_a_disturbance_that_hits_another_operator_in_every_run_counts_nowhere() -> None:
    runs = [PLAIN, delayed(PLAIN, 0, 5000), delayed(PLAIN, 1, 7000)]
    found = typical(runs)
    assert [one.duration_us for one in found.events] == [20, 30]
    assert found.duration_us == 100


def test_the_parts_of_the_typical_run_add_up_to_it() -> None:
    found = typical([BODY, delayed(BODY, 1, 3), delayed(BODY, 2, 8), delayed(BODY, 2, 9)])
    parts = balance(found)
    assert sum(parts.own_us) + parts.gaps_us == found.duration_us
    assert parts.own_us == (10, 10, 34)


def test_runs_that_did_not_do_the_same_are_told_by_the_one_in_the_middle() -> None:
    shorter = replace(PLAIN, duration_us=40, events=PLAIN.events[:1])
    longer = replace(PLAIN, duration_us=140)
    assert typical([longer, shorter, PLAIN]) == PLAIN
    assert typical([SIDE_BY_SIDE]) == SIDE_BY_SIDE
