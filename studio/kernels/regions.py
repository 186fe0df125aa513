"""The regions of a network that get code: planned in a worker, kept beside the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress, within_worker
from optimizer.model.writer import write
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.trace import Trace
from profiling.codegen.compiler import compiler_missing
from profiling.codegen.store import code_version
from profiling.kernels.generated.placed import PlacedKernel, placed_kernels, sizes_run
from profiling.kernels.generated.regions import KernelRegion, regions_of
from studio.artifacts.artifact import Artifact, Value
from studio.kernels.code import KernelCode, code_of

PASS = "generate-kernels"  # noqa: S105 no password


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """A kernel of a network, before anything is measured.

    Attributes:
        region: what it stands for.
        nodes: names of the nodes that call it.
        key: of the workload that is decided about; empty where its sizes are not known.
        work: its operators and sizes.
        code: that is written for it; None where its sizes are not known.
    """

    region: KernelRegion
    nodes: tuple[str, ...] = ()
    key: str = ""
    work: str = ""
    code: KernelCode | None = None


@dataclass(frozen=True, slots=True)
class PlannedRegions:
    """What the planner made of a network.

    Attributes:
        kernels: in the order of their first places.
        left: reason -> how many places stay as they are for it, the most frequent first.
        sizes: of free dimensions on which kernels are tried.
        problem: why nothing is known of sizes; empty if they are.
    """

    kernels: tuple[PlannedKernel, ...]
    left: Mapping[str, int]
    sizes: Mapping[str, int]
    problem: str = ""

    def keys(self) -> Mapping[str, str]:
        """Name of a kernel -> key of its workload."""
        return {one.region.name: one.key for one in self.kernels}


@dataclass(frozen=True, slots=True)
class RegionsRequest:
    """For what regions are planned.

    Attributes:
        threads: of a session, for which is decided.
        code: hash of what writes kernels; keys of workloads depend on it.
    """

    threads: int
    code: str = field(default_factory=lambda: f"{code_version()} {compiler_missing()}")


REGIONS_FORM = Format(PlannedRegions, "passlens.planned-regions/1", "regions of a network")


def plan_regions(
    files: TraceFiles, request: RegionsRequest, *, progress: Progress
) -> PlannedRegions:
    """The kernels that a trace leads to; for a worker process.

    Args:
        files: of a run of the preset `generated`.
        request: for what.
        progress: told what is done.
    """
    progress("planning kernels", 0.1)
    target = Path("generated.onnx").absolute()
    with trace_cursor(files) as cursor:
        trace = cursor.trace
        regions, left = regions_of(trace), _left(trace)
        if not regions:
            return PlannedRegions((), left, {})
        model = cursor.seek(len(trace.rewrites))
        write(model, target)
        progress("looking for sizes", 0.5)
        try:
            sizes = sizes_run(target, {}, isolate=within_worker)
        except StudioError as error:
            return PlannedRegions(tuple(map(PlannedKernel, regions)), left, {}, error.message)
        placed = {one.name: one for one in placed_kernels(target, model.graph, sizes)}
        kernels = tuple(_planned(one, placed.get(one.name), request.threads) for one in regions)
    return PlannedRegions(kernels, left, sizes)


REGIONS: Artifact[RegionsRequest, PlannedRegions] = Artifact(
    "regions", plan_regions, Value(REGIONS_FORM)
)
"""Of a run of the preset `generated`."""


def _planned(region: KernelRegion, placed: PlacedKernel | None, threads: int) -> PlannedKernel:
    if placed is None:
        return PlannedKernel(region)
    work = placed.workload(threads)
    nodes = tuple(name for place in placed.places for name in place)
    return PlannedKernel(region, nodes, work.key, work.title, code_of(placed.body))


def _left(trace: Trace) -> dict[str, int]:
    counts = Counter(one.condition for one in trace.declined if one.pass_id == PASS)
    return dict(counts.most_common())
