"""The lanes on which a run is drawn: one a processor where the runtime tells, else one a thread."""

from __future__ import annotations

from dataclasses import dataclass

from profiling.timeline.events import Run


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of a timeline.

    Attributes:
        name: shown.
        events: indices of the run's events that are drawn in it, in order.
    """

    name: str
    events: tuple[int, ...]


def lanes_of(run: Run) -> tuple[Lane, ...]:
    """The lanes of a run.

    With several threads the runtime tells on which processors an operator's parts ran; an operator
    then stands in each of those lanes, for as long as it took altogether.
    """
    if any(event.cores for event in run.events):
        return _cores(run)
    threads: dict[int, list[int]] = {}
    for index, event in enumerate(run.events):
        threads.setdefault(event.thread, []).append(index)
    if len(threads) < 2:
        return tuple(Lane("thread", tuple(indices)) for indices in threads.values())
    return tuple(
        Lane(f"thread {number}", tuple(indices))
        for number, indices in enumerate(threads.values(), start=1)
    )


def _cores(run: Run) -> tuple[Lane, ...]:
    cores: dict[int, list[int]] = {}
    for index, event in enumerate(run.events):
        for core in event.cores or (-1,):
            cores.setdefault(core, []).append(index)
    return tuple(
        Lane(f"core {core}" if core >= 0 else "other", tuple(cores[core])) for core in sorted(cores)
    )
