"""The lanes on which a run is drawn: one a thread that worked, the pool's among them."""

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

    With several threads the runtime tells which of them ran parts of an operator; it then stands
    in each of those lanes, for as long as it took altogether. A lane is named for its processor
    where its thread stayed on one.
    """
    told = any(event.workers for event in run.events)
    lanes: dict[int, list[int]] = {}
    cores: dict[int, set[int]] = {}
    for index, event in enumerate(run.events):
        for worker, core in event.workers or ((0 if told else event.thread, -1),):
            lanes.setdefault(worker, []).append(index)
            cores.setdefault(worker, set()).add(core)
    if not told and len(lanes) == 1:
        return tuple(Lane("thread", tuple(indices)) for indices in lanes.values())
    return tuple(
        Lane(_named(number, cores[worker]), tuple(lanes[worker]))
        for number, worker in enumerate(sorted(lanes) if told else lanes, start=1)
    )


def _named(number: int, cores: set[int]) -> str:
    seen = cores - {-1}
    return f"thread {number}, core {min(seen)}" if len(seen) == 1 else f"thread {number}"
