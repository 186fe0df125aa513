"""Schedules that are right and still cannot be compiled or run: too long, or too much memory.

A compiler would take minutes, or the machine's memory, to find out. Both can be told from the nest.
"""

from __future__ import annotations

import math

from optimizer.limits import MIB
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule, ScheduleError
from optimizer.numbers import bytes_text
from optimizer.schedules.nest import Nest
from optimizer.schedules.steps import checked_nest, steps_of
from optimizer.schedules.work import Work

MOST_OPERATIONS = 20_000
"""Written out in a nest: more take minutes to compile."""
MOST_BYTES = 2048 * MIB
"""Of what is kept between Funcs."""
MOST_LANES = 1024
"""In a vector: a processor has 16 or so, the rest is written out."""


def runnable_nest(algorithm: Algorithm, schedule: Schedule) -> Nest:
    """The nest of a schedule that can be compiled and run.

    Raises:
        ScheduleError: it cannot; says which primitive is to blame.
    """
    nest = checked_nest(algorithm, schedule)
    reason = checked_excess(nest)
    if not reason:
        return nest
    for number, step in enumerate(steps_of(algorithm, schedule)):
        if found := checked_excess(step.nest):
            raise ScheduleError(number - 1 if number else None, found)
    raise ScheduleError(None, reason)


def checked_excess(nest: Nest) -> str:
    """Why a nest cannot be compiled or run; empty where it can."""
    placed, work = nest.regions.placed, Work(nest.regions)
    operations = 0
    for stage in placed.stages():
        copies = 1
        for key in placed.path(stage.stage):
            extent = int(nest.regions.extent(key).max(initial=0))
            run = placed.run(key)
            if run == "vector" and extent > MOST_LANES:
                return f"loop {key.name} of {key.func} as one vector has {extent} lanes"
            copies *= extent if run == "unrolled" else 1
        operations += copies * max(work.operations(stage.stage), 1)
    if operations > MOST_OPERATIONS:
        return f"its loops written out are {operations} operations, and compilers take minutes"
    kept = sum(
        math.prod(nest.regions.held(name)) * placed.program.element_bytes(name)
        for name in placed.compute
        if name not in placed.program.outputs
    )
    return f"it keeps {bytes_text(kept)} between Funcs" if kept > MOST_BYTES else ""
