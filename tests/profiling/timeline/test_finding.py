from __future__ import annotations

import pytest

from profiling.timeline.events import Event, Run, Timeline
from profiling.timeline.finding import few_runs, finding, taken_off
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile
from profiling.timeline.profiler_cost import ProfilerCost


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
    assert len(few.timeline.runs) == 2
    for phase in ("first", "steady"):
        assert few.run(phase) == whole.run(phase)
        assert few.curves(phase) == whole.curves(phase)


@pytest.mark.parametrize(
    ("profilers", "told"),
    [
        ([None, None], "not taken off"),
        ([ProfilerCost(1.23, 4.0), None], "−1.2 µs a node, −4 µs between two, measured here"),
        (
            [ProfilerCost(1.0, 4.0, 0.25), ProfilerCost(2.0, 4.0)],
            "−1 to 2 µs a node, 0 to 25 % of its next 8 to 16 µs, −4 µs between two",
        ),
    ],
)
def test_what_was_taken_off_is_told(profilers: list[ProfilerCost | None], told: str) -> None:
    assert told in taken_off(profilers)


def test_the_finding_is_of_the_first_and_the_last_variant() -> None:
    found = finding({"a": made(90_000), "b": made(9), "c": made(8, 1_234_567)}, "steady")
    assert found == (
        "Steady run: 0.005 → 0.005 ms in 1 → 1 operators, 90 → 1,235 ms in gaps between them"
    )
    assert finding({"a": made()}, "first") == "The profiler saw no runs"
