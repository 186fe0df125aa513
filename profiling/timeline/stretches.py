"""A run as a row of stretches: what one thread did between one moment and the next.

Only of runs in which operators follow each other, in one thread, or lie in each other's bodies.
Runs of one session then have the same moments in the same order, so that stretches of several can
be compared, and a run can be put together again from other lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median
from typing import Literal

from profiling.timeline.events import Run

Doing = Literal["around", "work", "rest of a body", "dispatch", "between"]
"""Taking inputs and giving outputs; an operator's own work; what an operator does after one of its
body; before the first operator; between two."""


@dataclass(frozen=True, slots=True)
class StretchEnd:
    """The end of a stretch.

    Attributes:
        doing: what the stretch was.
        event: which operator begins or ends here, by its index; -1 for none.
        begins: whether it begins.
    """

    doing: Doing
    event: int = -1
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Stretches:
    """A run in one thread.

    Attributes:
        moments: equal for runs that did the same.
        lengths_us: of the stretch that each moment ends.
    """

    moments: tuple[StretchEnd, ...]
    lengths_us: tuple[float, ...]

    @classmethod
    def of(cls, run: Run) -> Stretches | None:
        """The stretches of a run; None where operators ran side by side."""
        if len({event.thread for event in run.events}) > 1:
            return None
        moments: list[StretchEnd] = []
        lengths: list[float] = []
        clock: float = run.start_us
        for moment, at_us in _moments(run):
            at_us = max(clock, min(at_us, run.end_us))
            moments.append(moment)
            lengths.append(at_us - clock)
            clock = at_us
        return cls(tuple(moments), tuple(lengths))

    def changed(self, length_us: Callable[[Doing, float], float]) -> Stretches:
        """With other lengths, each from what went on and how long it took."""
        pairs = zip(self.moments, self.lengths_us, strict=True)
        return Stretches(self.moments, tuple(length_us(one.doing, us) for one, us in pairs))

    def total_us(self, doing: Doing) -> float:
        """How long this went on, all together."""
        return sum(self.each_us(doing))

    def each_us(self, doing: Doing) -> list[float]:
        """How long each such stretch was."""
        pairs = zip(self.moments, self.lengths_us, strict=True)
        return [us for moment, us in pairs if moment.doing == doing]

    def run(self, like: Run) -> Run:
        """The run with these lengths; all else as it is in `like`."""
        clocks = [like.start_us + us for us in accumulate(self.lengths_us)]
        starts: dict[int, float] = {}
        ends: dict[int, float] = {}
        for moment, at_us in zip(self.moments, clocks, strict=True):
            if moment.event >= 0:
                (starts if moment.begins else ends)[moment.event] = at_us
        events = tuple(
            replace(event, start_us=starts[index], duration_us=ends[index] - starts[index])
            for index, event in enumerate(like.events)
        )
        run = replace(like, duration_us=clocks[-1] - like.start_us, events=events)
        if not like.executor_us:
            return run
        return replace(run, executor_start_us=clocks[0], executor_us=clocks[-2] - clocks[0])


def typical(runs: Sequence[Run], *, usual: Callable[[Sequence[float]], float] = median) -> Run:
    """The run that stands for several: every stretch as long as it usually is.

    A neighbour that took the machine for a moment then counts nowhere. Where runs cannot be
    compared so, the run in the middle.

    Args:
        runs: of one session, at least one.
        usual: what stands for several lengths.
    """
    middle = sorted(runs, key=lambda run: run.duration_us)[(len(runs) - 1) // 2]
    rows = [one for run in runs if (one := Stretches.of(run)) is not None]
    if len(rows) < len(runs) or len({one.moments for one in rows}) > 1:
        return middle
    columns = zip(*(one.lengths_us for one in rows), strict=True)
    return Stretches(rows[0].moments, tuple(map(usual, columns))).run(middle)


def _moments(run: Run) -> Iterator[tuple[StretchEnd, float]]:
    """Every moment in order, with its time."""
    told = bool(run.executor_us)
    if told:
        yield StretchEnd("around"), run.executor_start_us
    running: list[int] = []
    doing: Doing = "dispatch"

    def closed() -> tuple[StretchEnd, float]:
        nonlocal doing
        index = running.pop()
        moment = StretchEnd(doing, index)
        doing = "rest of a body" if running else "between"
        return moment, run.events[index].end_us

    for index, event in enumerate(run.events):
        while running and run.events[running[-1]].end_us <= event.start_us:
            yield closed()
        yield StretchEnd(doing, index, begins=True), event.start_us
        running.append(index)
        doing = "work"
    while running:
        yield closed()
    if told:
        yield StretchEnd(doing), run.executor_start_us + run.executor_us
    yield StretchEnd("around" if told else doing), run.end_us
