"""The loops of a network's regions, and the nodes in them, found in a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from optimizer.operators.generated import region_title
from optimizer.pipeline import Pipeline
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.schedules.nest import nest_of
from optimizer.schedules.sizes import at_sizes
from profiling.codegen.kernel import VECTOR_BITS
from profiling.codegen.levels import cpu_level
from profiling.kernels.generated.node_regions import NodeRegions, node_regions
from profiling.kernels.generated.placed import PlacedKernel, placed_kernels, sizes_run
from studio.artifacts.opened import OpenedModel
from studio.services import pool, store

PRESET = "generated"
UNKNOWN_SIZE = "has a size that is known only when the model runs"
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


@dataclass(frozen=True)
class NetworkLoops:
    """What the planner makes of a network, for who wants to schedule it.

    Attributes:
        regions: those whose loops can be drawn, in the order of their first places.
        refused: name of any other -> why not.
        nodes: in which region each node of the source is.
    """

    regions: tuple[RegionLoops, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    nodes: NodeRegions = field(default_factory=NodeRegions)

    def named(self, name: str) -> RegionLoops | None:
        """One with loops."""
        return next((one for one in self.regions if one.name == name), None)

    def region_of(self, nodes: Sequence[str]) -> RegionLoops:
        """The region that nodes of the source are in.

        Raises:
            StudioError: they are in none, or in one without loops; says why.
        """
        kernel = self.nodes.kernel_of(nodes)
        if not kernel:
            raise StudioError(self.nodes.why_none(nodes))
        found = self.named(kernel)
        if found is None:
            why = self.refused.get(kernel, UNKNOWN_SIZE)
            raise StudioError(f"The region of this node, {region_title(kernel)}, {why}.")
        return found


def regions_with_loops(
    model: OpenedModel, *, progress: Progress, cancelled: Callable[[], bool]
) -> NetworkLoops:
    """The kernels of a network, and which nodes are in them.

    Raises:
        StudioError: the network cannot be optimized, or its sizes cannot be found.
    """
    run = store().run(model, Pipeline.of(PRESET), progress=progress, cancelled=cancelled)
    found = pool()(find_loops, run.files, limits=_LIMITS, progress=progress, cancelled=cancelled)
    typed = (replace(one, algorithm=with_types(one.algorithm)) for one in found.regions)
    return replace(found, regions=tuple(typed))


def find_loops(files: TraceFiles, *, progress: Progress) -> NetworkLoops:
    """The same, as a worker process sends it: element types are numbers.

    Args:
        files: of a run of the preset `generated`.
        progress: told what is done.
    """
    progress("looking for loops", 0.2)
    target = Path("generated.onnx").absolute()
    with trace_cursor(files) as cursor:
        nodes = node_regions(cursor)
        model = cursor.seek(cursor.trace.steps)
        if not nodes.kernels:
            return NetworkLoops(nodes=nodes)
        write(model, target)
        sizes = sizes_run(target, {}, isolate=within_worker)
        kernels = list(placed_kernels(target, model.graph, sizes))
    found, refused = list[RegionLoops](), dict[str, str]()
    for kernel in kernels:
        try:
            found.append(_with_loops(kernel))
        except (NotGenerated, NoSchedule, StudioError) as error:
            refused[kernel.name] = f"has no loops that can be drawn: {str(error).rstrip('.')}"
    return NetworkLoops(tuple(found), refused, nodes)


def _with_loops(kernel: PlacedKernel) -> RegionLoops:
    """A kernel's loops at its sizes.

    Raises:
        NotGenerated: there are none.
        NoSchedule: no order of them is good.
        StudioError: a size is not known, or the loops cannot be drawn.
    """
    body = kernel.body
    free = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
    algorithm = at_sizes(free, kernel.sizes)
    schedule = default_schedule(algorithm, VECTOR_BITS[cpu_level()])
    nest_of(algorithm, ())
    return RegionLoops(kernel.name, kernel.workload(1).title, with_numbers(algorithm), schedule)
