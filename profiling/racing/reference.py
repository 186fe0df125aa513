"""Inputs for a race, and the outputs that count as right."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimizer.errors import Cancelled, RunError
from optimizer.verify import jobs
from optimizer.verify.runtime import NotRunnable
from profiling.racing.clock import RaceClock
from profiling.racing.race import Variant
from profiling.workers import WorkerPool


def find_reference(
    variants: Sequence[Variant],
    pool: WorkerPool,
    clock: RaceClock,
    *,
    fail: Callable[[Variant, str], None],
) -> jobs.Reference:
    """What the first model does that runs, plainly, on one thread of the CPU.

    Args:
        variants: in order of preference.
        pool: runs the models.
        clock: limits, and whether somebody wants to stop.
        fail: told about variants whose model brought its worker down here already.

    Raises:
        RunError: no model runs; the first one's reason.
    """
    reasons: list[RunError] = []
    tried: list[object] = []
    for variant in variants:
        if variant.model in tried:
            continue
        tried.append(variant.model)
        clock.report(f"{variant.label}: looking for inputs")
        try:
            return pool(
                jobs.run_reference, variant.model, clock.plan.request,
                limits=clock.limits(), cancelled=clock.cancelled,
            )  # fmt: skip
        except Cancelled:
            raise
        except RunError as error:
            reasons.append(error)
            if not isinstance(error, NotRunnable):  # a device of its own may still run it
                for twin in variants:
                    if twin.model == variant.model:
                        fail(twin, error.message)
    raise reasons[0]
