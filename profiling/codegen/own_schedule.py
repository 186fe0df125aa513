"""Schedules that come with a model: built only where no loop can go past the end of a tensor.

Kernels are compiled without checks, for sizes that are known when they run.
"""

from __future__ import annotations

from optimizer.loops.schedule import Bound, Schedule, ScheduleError, Split

_MOST_PRIMITIVES = 256
_SAFE = frozenset({"guard_with_if", "predicate"})


def refuse_unsafe(schedule: Schedule) -> None:
    """Refuse what computes past an end, or takes a size on trust.

    Raises:
        ScheduleError: a primitive does; says which.
    """
    if len(schedule.primitives) > _MOST_PRIMITIVES:
        raise ScheduleError(None, f"more than {_MOST_PRIMITIVES} primitives")
    for number, one in enumerate(schedule.primitives):
        if isinstance(one, Split) and one.tail not in _SAFE:
            raise ScheduleError(
                number,
                f"a kernel of a model is right on all sizes, and {one.tail} may go past an end: "
                "guard_with_if and predicate do not",
            )
        if isinstance(one, Bound):
            raise ScheduleError(number, "a kernel of a model takes no size on trust")
