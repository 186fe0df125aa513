"""The part of `passlens schedule` that isl answers: points, dependences, and what is legal."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.errors import RunError, StudioError, plain
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.workers import default_pool

POLYHEDRAL = "polyhedral"
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
