"""A step's arena as ONNX Runtime runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.isolation import Progress
from profiling.arena import ArenaMeasurement, measure_arena
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.memory.request import Sizes


@dataclass(frozen=True, slots=True)
class ArenaRun:
    """What to run.

    Attributes:
        step: of the trace.
        sizes: of free dimensions.
    """

    step: int
    sizes: Sizes = ()


def measured_key(model: OpenedModel, run: OpenedRun, request: ArenaRun) -> tuple[object, ...]:
    """Equal measurements have equal keys."""
    return ("memory-measured", model.key, run.key, request)


def run_measured(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: ArenaRun,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> ArenaMeasurement:
    """Run the step's model three times with the profiler on.

    Raises:
        StudioError: the step cannot be written, or its model does not run.
    """
    model, run = subject
    progress("writing the model", 0.0)
    path = store.materialize(model, run, request.step)
    return measure_arena(
        path, pool=pool, sizes=dict(request.sizes), progress=progress, cancelled=cancelled
    )
