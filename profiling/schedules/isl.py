"""The schedule that isl proposes, in a worker: native code that may need long."""

from __future__ import annotations

from collections.abc import Callable

from optimizer.errors import OutOfMemory, StudioError, WorkerTimeout
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.codegen.kernel import VECTOR_BITS
from profiling.codegen.levels import cpu_level
from profiling.workers import WorkerPool

LIMITS = JobLimits(seconds=60, memory_bytes=2048 * MIB)


def proposed_by_isl(
    algorithm: Algorithm,
    *,
    pool: WorkerPool,
    cancelled: Callable[[], bool] | None = None,
    limits: JobLimits = LIMITS,
) -> Schedule:
    """The schedule that isl finds for this processor.

    Args:
        algorithm: of sizes that are numbers.
        pool: gives the worker.
        cancelled: asked now and then.
        limits: of the search.

    Raises:
        StudioError: the algorithm is not affine, or isl needs too long or too much memory.
        Cancelled: if `cancelled` said so.
    """
    # Native code, which nobody needs who does not ask for it.
    from optimizer.polyhedral.proposal import proposed

    lanes = VECTOR_BITS[cpu_level()] // 32
    try:
        return pool(proposed, algorithm, lanes, limits=limits, cancelled=cancelled)
    except WorkerTimeout as error:
        raise StudioError(
            f"isl has no schedule for these loops within {limits.seconds:g} s."
        ) from error
    except OutOfMemory as error:
        raise StudioError("isl ran out of memory over these loops: it has no schedule.") from error
