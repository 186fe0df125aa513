"""A schedule as it is after some of its primitives."""

from __future__ import annotations

from optimizer.errors import StudioError
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.steps import steps_of


def schedule_at(algorithm: Algorithm, schedule: Schedule, step: int) -> Schedule:
    """What of a schedule is applied after so many primitives; those refused are left out.

    Args:
        algorithm: what is scheduled.
        schedule: may have primitives that cannot be applied.
        step: how many primitives, from 0 to all of them.

    Raises:
        StudioError: there is no such step, or what is there has no nest until a later one comes.
        ScheduleError: the algorithm has no nest without a schedule, either.
    """
    count = len(schedule.primitives)
    if not 0 <= step <= count:
        raise StudioError(f"There is no step {step}: this schedule has steps 0 to {count}.")
    steps = steps_of(algorithm, schedule)
    if steps[step].pending:
        raise StudioError(f"Step {step} has no code: {steps[step].pending} until a later step.")
    kept = (one.primitive for one in steps[: step + 1] if not one.refusal)
    return Schedule(tuple(one for one in kept if one is not None))
