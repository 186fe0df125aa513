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
    if any(event.workers for event in run.events):
        return _workers(run)
    threads: dict[int, list[int]] = {}
    for index, event in enumerate(run.events):
        threads.setdefault(event.thread, []).append(index)
    if len(threads) < 2:
        return tuple(Lane("thread", tuple(indices)) for indices in threads.values())
    return tuple(
        Lane(f"thread {number}", tuple(indices))
        for number, indices in enumerate(threads.values(), start=1)
    )


def _workers(run: Run) -> tuple[Lane, ...]:
    lanes: dict[int, list[int]] = {0: []}
    cores: dict[int, set[int]] = {}
    for index, event in enumerate(run.events):
        for worker, core in event.workers or ((0, -1),):
            lanes.setdefault(worker, []).append(index)
            cores.setdefault(worker, set()).add(core)
    return tuple(
        Lane(_named(number, cores.get(worker, set())), tuple(lanes[worker]))
        for number, worker in enumerate(sorted(lanes), start=1)
    )


def _named(number: int, cores: set[int]) -> str:
    seen = cores - {-1}
    return f"thread {number}, core {min(seen)}" if len(seen) == 1 else f"thread {number}"
