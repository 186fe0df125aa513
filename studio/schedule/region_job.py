"""The loops of a network's regions, found in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import Progress, within_worker
from optimizer.limits import JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.building import NotGenerated
from optimizer.loops.element_types import with_numbers, with_types
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.schedules.nest import nest_of
from optimizer.schedules.sizes import at_sizes
from profiling.codegen.kernel import VECTOR_BITS
from profiling.codegen.levels import cpu_level
from profiling.kernels.generated.placed import PlacedKernel, placed_kernels, sizes_run
from studio.artifacts.opened import OpenedModel
from studio.services import pool, store

PRESET = "generated"
_LIMITS = JobLimits(seconds=300)


@dataclass(frozen=True)
class RegionLoops:
    """A kernel of a network.

    Attributes:
        name: of its function.
        title: its operators and sizes.
        algorithm: at the sizes that it has there.
        schedule: the default one.
    """

    name: str
    title: str
    algorithm: Algorithm
    schedule: Schedule


def regions_with_loops(
    model: OpenedModel, *, progress: Progress, cancelled: Callable[[], bool]
) -> tuple[RegionLoops, ...]:
    """The kernels of a network whose loops can be drawn, in the order of their first places.

    Raises:
        StudioError: the network cannot be optimized, or its sizes cannot be found.
    """
    run = store().run(model, Pipeline.of(PRESET), progress=progress, cancelled=cancelled)
    found = pool()(find_loops, run.files, limits=_LIMITS, progress=progress, cancelled=cancelled)
    return tuple(replace(one, algorithm=with_types(one.algorithm)) for one in found)


def find_loops(files: TraceFiles, *, progress: Progress) -> tuple[RegionLoops, ...]:
    """The same, as a worker process sends it: element types are numbers.

    Args:
        files: of a run of the preset `generated`.
        progress: told what is done.
    """
    progress("looking for loops", 0.2)
    target = Path("generated.onnx").absolute()
    with trace_cursor(files) as cursor:
        model = cursor.seek(len(cursor.trace.rewrites))
        write(model, target)
        sizes = sizes_run(target, {}, isolate=within_worker)
        kernels = list(placed_kernels(target, model.graph, sizes))
    return tuple(_with_loops(kernels))


def _with_loops(kernels: list[PlacedKernel]) -> Iterator[RegionLoops]:
    """Those that have loops; the page *Run* says of the others why not."""
    for kernel in kernels:
        body = kernel.body
        try:
            free = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
            algorithm = at_sizes(free, kernel.sizes)
            schedule = default_schedule(algorithm, VECTOR_BITS[cpu_level()])
            nest_of(algorithm, ())
        except (NotGenerated, NoSchedule, StudioError):
            continue
        yield RegionLoops(kernel.name, kernel.workload(1).title, with_numbers(algorithm), schedule)
