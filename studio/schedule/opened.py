"""What the Schedule page shows now, for all its sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule


@dataclass(frozen=True)
class OpenedSchedule:
    """An algorithm, and the order in which it is computed.

    Attributes:
        key: of the algorithm; equal keys are the same one.
        title: of the algorithm; it may quote a model.
        algorithm: of sizes that are numbers.
        schedules: those that come with it, by name; the first is what others are timed against.
        name: of the schedule that was opened.
        schedule: as it is edited now, without what is switched off; any primitive in it may be one
            that cannot be applied.
        kernel: that a region of a model becomes; empty for an example.
    """

    key: str
    title: str
    algorithm: Algorithm
    schedules: Mapping[str, Schedule]
    name: str
    schedule: Schedule
    kernel: str = ""
