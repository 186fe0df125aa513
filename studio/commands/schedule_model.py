"""A kernel of a model, with its default schedule, at the sizes that it has there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import StudioError, quoted
from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.building import NotGenerated
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.loader import load_path
from optimizer.rewrite.replay import Cursor
from optimizer.schedules.sizes import at_sizes
from profiling.codegen.kernel import VECTOR_BITS
from profiling.codegen.levels import cpu_level
from profiling.kernels.generated.node_regions import node_regions
from profiling.kernels.generated.placed import PlacedKernel
from studio.commands.kernels import Planned, planned_kernels
from studio.commands.models import model_path


@dataclass(frozen=True)
class ModelKernel:
    """A kernel of a model.

    Attributes:
        kernel: name of its function.
        title: for people.
        algorithm: what it computes, at the sizes that it has in the model.
        schedule: the default one.
        source: SHA-256 of the model.
    """

    kernel: str
    title: str
    algorithm: Algorithm
    schedule: Schedule
    source: str


def model_subject(
    model: str, bind: Sequence[str], region: str | None = None, *, node: str | None = None
) -> ModelKernel:
    """A kernel of a model.

    Args:
        model: the file.
        bind: sizes of free dimensions, as on the command line.
        region: the kernel's name, or its number from 1 on; None for the first.
        node: name of a node of the model, for the kernel that does its work; instead of a region.

    Raises:
        StudioError: the model cannot be opened, or has no such kernel; why the node is in none.
    """
    with tempfile.TemporaryDirectory(prefix="passlens-schedule-") as folder:
        planned = planned_kernels(model, list(bind), Path(folder))
        if node is not None:
            region = _region_of(node, planned)
        kernel = _chosen(planned.kernels, region)
        body = kernel.body
        try:
            free = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
            algorithm = at_sizes(free, kernel.sizes)
            schedule = default_schedule(algorithm, VECTOR_BITS[cpu_level()])
        except (NotGenerated, NoSchedule) as error:
            raise StudioError(f"{kernel.name} has no loops: {error}.") from error
    title = f"{kernel.name}, {kernel.workload(1).title}"
    source = load_path(model_path(model)).digest
    return ModelKernel(kernel.name, title, algorithm, schedule, source)


def _region_of(node: str, planned: Planned) -> str:
    """Name of the kernel that does the work of a node.

    Raises:
        StudioError: there is no such node, or it is in no kernel.
    """
    found = node_regions(Cursor.at_end(planned.trace))
    nodes = found.named.get(node, ())
    if not nodes:
        raise StudioError(f"There is no node {quoted(node)} in this model.")
    kernel = found.kernel_of(nodes)
    if not kernel:
        raise StudioError(found.why_none(nodes))
    return kernel


def _chosen(kernels: Sequence[PlacedKernel], region: str | None) -> PlacedKernel:
    if not kernels:
        raise StudioError(
            "No region of this model becomes a kernel, so there are no loops to order."
        )
    names = [kernel.name for kernel in kernels]
    if region is None:
        return kernels[0]
    if region.isdecimal() and 1 <= int(region) <= len(kernels):
        return kernels[int(region) - 1]
    if region in names:
        return kernels[names.index(region)]
    there = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    raise StudioError(f"There is no region {quoted(region)}; there are {there}.")
