"""What can be done next with the schedule of the page, found and measured in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

from optimizer.isolation import Progress
from optimizer.loops.schedule import Schedule
from optimizer.schedules.choices import Choice, Choices, choices_in_parts
from optimizer.schedules.steps import steps_of
from profiling.cache.folder import cache_folder
from profiling.calibration.loops import machine_here
from profiling.schedules.effects import Effect, effect_of
from studio.schedule.opened import OpenedSchedule
from studio.services import pool, tasks
from studio.tasks import Task

DRAWN_FIRST_S = 0.3
"""Within which the page sends the loops: a search beside it would take its turns."""
MEASURED = 5
SECONDS = 1.0
"""Of running one choice and the schedule before it in turns."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Effects of the choices that should be fastest, as far as they are known."""

    effects: tuple[Effect, ...]


def choices_task(opened: OpenedSchedule) -> Task[Choices]:
    """The choices; a part of them in `partial` until all are there."""
    return tasks().start(_key("schedule-choices", opened), partial(_find, opened))


def measuring_key(opened: OpenedSchedule) -> Hashable:
    """Of the task that measures the best."""
    return _key("schedule-choices-measured", opened)


def _key(name: str, opened: OpenedSchedule) -> Hashable:
    return (name, opened.key, opened.schedule)


def _find(
    opened: OpenedSchedule,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
    partial: Callable[[Any], None] = lambda _: None,
) -> Choices:
    """Plain Python, some milliseconds a choice; begins when the loops are on the way already."""
    del progress, cancelled
    time.sleep(DRAWN_FIRST_S)
    found: Choices | None = None
    for found in choices_in_parts(opened.algorithm, applied(opened), machine_here(cache_folder())):
        partial(found)
    assert found is not None, "there is one part at least"
    return found


def applied(opened: OpenedSchedule) -> Schedule:
    """The schedule without what cannot be applied."""
    steps = steps_of(opened.algorithm, opened.schedule)
    kept = (step.primitive for step in steps if not step.refusal)
    return Schedule(tuple(one for one in kept if one is not None))


def measure(
    opened: OpenedSchedule,
    best: tuple[Choice, ...],
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
    partial: Callable[[Any], None] = lambda _: None,
) -> Measured:
    """Run choices, each in turns with the schedule before it.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    before, found = applied(opened), list[Effect]()
    for number, one in enumerate(best):
        progress(f"{one.step.func}: {one.step.text}", number / len(best))
        found.append(
            effect_of(
                opened.algorithm,
                before,
                one.schedule,
                pool=pool(),
                seconds=SECONDS,
                cancelled=cancelled,
            )
        )
        partial(Measured(tuple(found)))
    return Measured(tuple(found))
