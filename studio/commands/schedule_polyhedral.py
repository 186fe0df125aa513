"""The part of `passlens schedule` that isl answers: points, dependences, and what is legal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from optimizer.errors import RunError, StudioError, plain
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.schedules.isl import proposed_by_isl
from profiling.workers import default_pool

POLYHEDRAL = "polyhedral"
ISL: Literal["isl"] = "isl"
LIMITS = JobLimits(seconds=60, memory_bytes=2048 * MIB)
"""Of all that isl is asked about one schedule."""


def polyhedral_lines(algorithm: Algorithm, schedule: Schedule) -> Iterator[str]:
    """The nest as isl has it.

    Raises:
        StudioError: it is not affine, isl needs too long, or a primitive names what is not there.
    """
    # Native code, which nobody needs who does not ask for it.
    from optimizer.polyhedral.report import polyhedral_text

    try:
        text = default_pool()(polyhedral_text, algorithm, schedule.primitives, limits=LIMITS)
    except RunError as error:
        raise StudioError(f"isl cannot follow this schedule: {error.message}") from error
    yield from map(plain, text.splitlines())


def isl_schedule(algorithm: Algorithm) -> Schedule:
    """The schedule that isl proposes for this processor.

    Raises:
        StudioError: the algorithm is not affine, or isl needs too long.
    """
    return proposed_by_isl(algorithm, pool=default_pool())
