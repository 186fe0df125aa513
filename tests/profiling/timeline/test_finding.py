from __future__ import annotations

import pytest

from profiling.timeline.events import Event, Run, Timeline
from profiling.timeline.finding import few_runs, finding
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile


def made(*durations: int) -> Profile:
    """Runs of one operator each; a run's memory is its number."""
    event = Event("n", "Add", "", 0, 5, 1, 0, 0, 0, 0, None)
    runs = tuple(Run(0, duration, (event,)) for duration in durations)
    curves = tuple(MemoryCurve("output sizes", (5,), (i,), ()) for i in range(len(runs)))
    return Profile(Timeline(0, 0, runs), curves, device=curves)


@pytest.mark.parametrize("durations", [(90, 20), (90, 8, 7), (90, 7, 30, 8, 9, 8), (9, 5, 5, 5, 5)])
def test_few_runs_are_drawn_like_all(durations: tuple[int, ...]) -> None:
    whole = made(*durations)
    few = few_runs(whole)
    assert len(few.timeline.runs) == min(3, len(durations))
    for phase in ("first", "steady"):
        assert few.run(phase) == whole.run(phase)
        here, there = few.run_index(phase), whole.run_index(phase)
        assert here is not None
        assert there is not None
        assert few.memory[here] == whole.memory[there]
        assert few.device[here] == whole.device[there]


def test_the_finding_is_of_the_first_and_the_last_variant() -> None:
    found = finding({"a": made(90_000), "b": made(9), "c": made(8, 1_234_567)}, "steady")
    assert found == (
        "Steady run: 0.005 → 0.005 ms in 1 → 1 operators, 90 → 1,235 ms in gaps between them"
    )
    assert finding({"a": made()}, "first") == "The profiler saw no runs"
