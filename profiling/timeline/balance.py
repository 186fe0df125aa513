"""Where every microsecond of a run went: each operator's own time, and the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiling.timeline.events import Event, Run


@dataclass(frozen=True, slots=True)
class Balance:
    """A run, added up. `sum(own_us) - overlap_us + executor_us + around_us` is `run_us`, exactly.

    Attributes:
        run_us: duration of the call.
        own_us: of each event the time in which none of its body's operators ran.
        overlap_us: counted more than once in `own_us`, because operators ran side by side.
        executor_us: no operator ran, but the runtime was working off the nodes: choosing the next
            one, reserving and freeing outputs, and writing the profile.
        around_us: before and after that: taking inputs and giving outputs.
    """

    run_us: float
    own_us: tuple[float, ...]
    overlap_us: float
    executor_us: float
    around_us: float

    @property
    def gaps_us(self) -> float:
        """Time in which no operator ran."""
        return self.executor_us + self.around_us

    @property
    def operators_us(self) -> float:
        """Time in which at least one operator ran."""
        return sum(self.own_us) - self.overlap_us


def balance(run: Run) -> Balance:
    """Add up a run."""
    own = own_times(run)
    busy = _covered(run.events, run.start_us, run.end_us)
    gaps_us = run.duration_us - busy
    low = max(run.start_us, run.executor_start_us)
    high = min(run.end_us, run.executor_start_us + run.executor_us)
    inside = gaps_us
    if run.executor_us:
        inside = max(0, high - low) - _covered(run.events, low, high)
    return Balance(run.duration_us, own, sum(own) - busy, inside, gaps_us - inside)


def own_times(run: Run) -> tuple[float, ...]:
    """Of each event the microseconds in which it was the innermost one of its thread."""
    own = [0.0] * len(run.events)
    lanes: dict[int, list[int]] = {}
    for index, event in enumerate(run.events):
        lanes.setdefault(event.thread, []).append(index)
    for lane in lanes.values():
        _share_out(run, lane, own)
    return tuple(own)


def _share_out(run: Run, lane: Sequence[int], own: list[float]) -> None:
    """Give every moment of one thread to the operator that began last and still runs."""
    events, clock = run.events, run.start_us
    running: list[int] = []

    def until(moment: float) -> None:
        nonlocal clock
        moment = min(moment, run.end_us)
        if running:
            own[running[-1]] += max(0, moment - clock)
        clock = max(clock, moment)

    for index in lane:
        start = events[index].start_us
        while running and events[running[-1]].end_us <= start:
            until(events[running[-1]].end_us)
            running.pop()
        until(start)
        running.append(index)
    while running:
        until(events[running[-1]].end_us)
        running.pop()


def _covered(events: Sequence[Event], low: float, high: float) -> float:
    """Microseconds between two moments in which at least one operator ran."""
    covered, clock = 0.0, low
    for event in events:
        start, end = max(event.start_us, clock), min(event.end_us, high)
        if end > start:
            covered += end - start
            clock = end
    return covered
