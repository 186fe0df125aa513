"""Schedules of one algorithm in turns, those of autoschedulers among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Progress
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.steps import steps_of
from profiling.codegen.levels import cpu_level
from profiling.racing.samples import Contrast, contrast, undisturbed_ms
from profiling.schedules.autoschedulers import (
    AUTOSCHEDULERS,
    FOR_GPUS,
    Autoscheduler,
    run_autoscheduler,
)
from profiling.schedules.running import timed
from profiling.workers import WorkerPool

_COMPILE_S = 60.0


@dataclass(frozen=True)
class Standing:
    """One schedule of a race.

    Attributes:
        name: of the schedule.
        schedule: as it ran: without primitives that cannot be applied.
        left_out: how many those are.
        latency_ms: of runs that nobody got in the way of; 0 where there is none.
        against: the first schedule; None for itself, and where there is no time.
        problem: why there is no time; empty where there is one.
    """

    name: str
    schedule: Schedule
    left_out: int = 0
    latency_ms: float = 0.0
    against: Contrast | None = None
    problem: str = ""


def autoschedules(
    algorithm: Algorithm,
    *,
    pool: WorkerPool,
    progress: Progress,
    cancelled: Callable[[], bool] | None = None,
) -> Mapping[str, Schedule | str]:
    """The schedules that autoschedulers make for a processor; or why there is none.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    found: dict[str, Schedule | str] = {}
    names: list[Autoscheduler] = [one for one in AUTOSCHEDULERS if one not in FOR_GPUS]
    for number, name in enumerate(names):
        progress(f"{name} searches", number / (len(names) + 1))
        try:
            made = run_autoscheduler(algorithm, name, pool=pool, cancelled=cancelled)
            found[name] = made.found.schedule
        except Cancelled:
            raise
        except StudioError as error:
            found[name] = error.message
    return found


def race_schedules(
    algorithm: Algorithm,
    entries: Mapping[str, Schedule | str],
    *,
    pool: WorkerPool,
    seconds: float,
    cancelled: Callable[[], bool] | None = None,
) -> list[Standing]:
    """Schedules in turns, in one worker.

    Args:
        algorithm: of sizes that are numbers.
        entries: by name, or why there is none; others are compared with the first.
        pool: gives the worker.
        seconds: of running all of them.
        cancelled: asked now and then.

    Raises:
        RunError: the worker died, or took too long or too much memory.
        Cancelled: if `cancelled` said so.
    """
    standings = [_entered(algorithm, name, one) for name, one in entries.items()]
    running = [one for one in standings if not one.problem]
    schedules = [one.schedule for one in running]
    limits = JobLimits(seconds=_COMPILE_S + 2 * seconds, memory_bytes=4096 * MIB)
    try:
        times = pool(
            timed, algorithm, schedules, cpu_level(), seconds, limits=limits, cancelled=cancelled
        )
    except Cancelled:
        raise
    except RunError as error:
        raise RunError(f"These schedules cannot be timed: {error.message}") from error
    first = [(1000 * one,) for one in times[0]]
    found: dict[str, Standing] = {}
    for one, took in zip(running, times, strict=True):
        ms = [1000 * each for each in took]
        against = contrast(first, [(each,) for each in ms]) if one is not running[0] else None
        found[one.name] = Standing(
            one.name, one.schedule, one.left_out, undisturbed_ms(ms), against
        )
    return [found.get(one.name, one) for one in standings]


def _entered(algorithm: Algorithm, name: str, entry: Schedule | str) -> Standing:
    """A schedule that can be run, if need be without what cannot be applied."""
    if isinstance(entry, str):
        return Standing(name, Schedule(), problem=entry)
    steps = steps_of(algorithm, entry)[1:]
    kept = Schedule(
        tuple(one.primitive for one in steps if one.primitive is not None and not one.refusal)
    )
    left_out = len(steps) - len(kept.primitives)
    try:
        if kept.needs_gpu:
            return Standing(name, kept, left_out, problem="It is for a GPU.")
        runnable_nest(algorithm, kept)
    except StudioError as error:
        return Standing(name, kept, left_out, problem=error.message)
    return Standing(name, kept, left_out)
