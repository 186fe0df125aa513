"""A schedule step by step: the nest after each primitive, and which primitives cannot be applied.

A primitive that cannot be applied is left out and the rest goes on. Some are only wrong until a
later one comes (memory of a Func, before the place where it is computed): what comes out after all
of them decides, and if that has no nest, the first primitive after the last nest is to blame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, Schedule, ScheduleError
from optimizer.schedules.nest import Nest, nest_of


@dataclass(frozen=True, slots=True)
class Step:
    """After one more primitive.

    Attributes:
        primitive: None before the first.
        refusal: why it is left out for good; empty where it is not.
        pending: why there is no nest with it until a later one comes; empty where there is.
        nest: as far as primitives can be applied.
    """

    primitive: Primitive | None
    nest: Nest
    refusal: str = ""
    pending: str = ""


def steps_of(algorithm: Algorithm, schedule: Schedule) -> tuple[Step, ...]:
    """The nest before the first primitive, and after each.

    Raises:
        ScheduleError: the algorithm has no nest without a schedule, either.
    """
    primitives = schedule.primitives
    kept = _applicable(algorithm, primitives)
    steps = [Step(None, nest_of(algorithm, ()))]
    for number, primitive in enumerate(primitives):
        if number in kept:
            steps.append(Step(primitive, steps[-1].nest, refusal=kept[number]))
            continue
        taken = [one for at, one in enumerate(primitives[: number + 1]) if at not in kept]
        try:
            steps.append(Step(primitive, nest_of(algorithm, taken)))
        except ScheduleError as error:
            steps.append(Step(primitive, steps[-1].nest, pending=error.reason))
    return tuple(steps)


def checked_nest(algorithm: Algorithm, schedule: Schedule) -> Nest:
    """The nest after all primitives.

    Raises:
        ScheduleError: it has none; says which primitive is to blame.
    """
    primitives = schedule.primitives
    try:
        return nest_of(algorithm, primitives)
    except ScheduleError as error:
        if error.index is not None:
            raise
        at = _blamed(algorithm, primitives)
        raise (error if at is None else at) from error


def _applicable(algorithm: Algorithm, primitives: Sequence[Primitive]) -> dict[int, str]:
    """Why primitives have to be left out so that the others have a nest, by their numbers."""
    out: dict[int, str] = {}
    while True:
        numbers = [number for number in range(len(primitives)) if number not in out]
        try:
            checked_nest(algorithm, Schedule(tuple(primitives[number] for number in numbers)))
        except ScheduleError as error:
            if error.index is None:
                raise
            out[numbers[error.index]] = error.reason
            continue
        return out


def _blamed(algorithm: Algorithm, primitives: Sequence[Primitive]) -> ScheduleError | None:
    """The first primitive after the last nest, with what is said against it."""
    reason = ""
    for count in reversed(range(len(primitives) + 1)):
        try:
            nest_of(algorithm, primitives[:count])
        except ScheduleError as error:
            reason = error.reason
            continue
        return ScheduleError(count, reason)
    return None
