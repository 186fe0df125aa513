"""What a change of a schedule does: both run in turns in one worker."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from optimizer.errors import Cancelled, StudioError
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.excess import runnable_nest
from profiling.codegen.levels import cpu_level
from profiling.schedules.running import timed
from profiling.workers import WorkerPool

LIMITS = JobLimits(seconds=60, memory_bytes=4096 * MIB)
"""Of compiling two schedules and running them in turns."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What was measured.

    Attributes:
        median_us: of the changed schedule's runs; 0 where it cannot be run.
        speedup: times as fast as the schedule before, by medians.
        runs: of each.
        problem: why there is no time; empty where there is one.
    """

    median_us: float
    speedup: float
    runs: int
    problem: str = ""


def effect_of(
    algorithm: Algorithm,
    before: Schedule,
    after: Schedule,
    *,
    pool: WorkerPool,
    seconds: float,
    cancelled: Callable[[], bool] | None = None,
) -> Effect:
    """Two schedules of an algorithm in turns.

    Args:
        algorithm: of sizes that are numbers.
        before: the one to be changed.
        after: the changed one; where it cannot be run, the effect says why.
        pool: gives the worker.
        seconds: of running both.
        cancelled: asked now and then.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    try:
        for one in (before, after):
            runnable_nest(algorithm, one)
        old, new = pool(
            timed, algorithm, [before, after], cpu_level(), seconds,
            limits=LIMITS, cancelled=cancelled,
        )  # fmt: skip
    except Cancelled:
        raise
    except StudioError as error:
        return Effect(0.0, 0.0, 0, error.message)
    median = statistics.median(new)
    return Effect(1e6 * median, statistics.median(old) / median, len(new))
