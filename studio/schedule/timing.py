"""How long a schedule takes here, in turns with the first one of its subject."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

from optimizer.errors import RunError
from optimizer.isolation import Progress
from optimizer.limits import MIB, JobLimits
from optimizer.loops.schedule import Schedule
from optimizer.schedules.excess import runnable_nest
from profiling.codegen.levels import cpu_level
from profiling.schedules.running import timed
from studio.schedule.opened import OpenedSchedule
from studio.schedule.stopped import stopped
from studio.services import pool, tasks
from studio.tasks import Task

LIMITS = JobLimits(seconds=30, memory_bytes=4096 * MIB)
"""Of compiling two schedules and running them for a second."""
SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Times:
    """Of runs in turns.

    Attributes:
        median_ms: of a run.
        least_ms: of the fastest.
        first_ms: median of the first schedule's runs.
        runs: of each.
    """

    median_ms: float
    least_ms: float
    first_ms: float
    runs: int


def start_timing(opened: OpenedSchedule, step: int) -> None:
    """Time the schedule after so many primitives; one that failed is tried again."""
    key = _key(opened, step)
    tasks().drop_failed(key)
    tasks().start(key, partial(_time, opened, _until(opened.schedule, step)))


def timing(opened: OpenedSchedule, step: int) -> Task[Times] | None:
    """What is known of the time after so many primitives; None where nobody asked."""
    return tasks().get(_key(opened, step))


def timings(opened: OpenedSchedule) -> list[Task[Times] | None]:
    """The same for every step."""
    return [timing(opened, step) for step in range(len(opened.schedule.primitives) + 1)]


def _key(opened: OpenedSchedule, step: int) -> Hashable:
    return ("schedule-time", opened.key, _until(opened.schedule, step))


def _until(schedule: Schedule, step: int) -> Schedule:
    return Schedule(schedule.primitives[:step])


def _time(
    opened: OpenedSchedule,
    schedule: Schedule,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Times:
    """Compile both, and run them in turns.

    Raises:
        ScheduleError: a primitive cannot be applied, or what comes out cannot be run.
        RunError: it took too long or too much memory, or the worker died.
    """
    progress("compiling", 0.1)
    runnable_nest(opened.algorithm, schedule)
    first = next(iter(opened.schedules.values()))
    try:
        own, other = pool()(
            timed, opened.algorithm, [schedule, first], cpu_level(), SECONDS,
            limits=LIMITS, cancelled=cancelled,
        )  # fmt: skip
    except RunError as error:
        raise stopped(error, LIMITS, "timed") from error
    return Times(
        1000 * statistics.median(own), 1000 * min(own), 1000 * statistics.median(other), len(own)
    )
