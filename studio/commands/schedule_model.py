"""A kernel of a model, with its default schedule, at the sizes that it has there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from optimizer.errors import StudioError, quoted
from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.building import NotGenerated
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.schedules.sizes import at_sizes
from profiling.codegen.kernel import VECTOR_BITS
from profiling.codegen.levels import cpu_level
from profiling.kernels.generated.placed import PlacedKernel
from studio.commands.kernels import planned_kernels


def model_subject(
    model: str, bind: Sequence[str], region: str | None
) -> tuple[str, str, Algorithm, Schedule]:
    """A kernel's name, what it is called, what it computes, and its default schedule.

    Args:
        model: the file.
        bind: sizes of free dimensions, as on the command line.
        region: the kernel's name, or its number from 1 on; None for the first.

    Raises:
        StudioError: the model cannot be opened, or has no such kernel.
    """
    with tempfile.TemporaryDirectory(prefix="passlens-schedule-") as folder:
        kernels = planned_kernels(model, list(bind), Path(folder)).kernels
        kernel = _chosen(kernels, region)
        body = kernel.body
        try:
            free = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
            algorithm = at_sizes(free, kernel.sizes)
            schedule = default_schedule(algorithm, VECTOR_BITS[cpu_level()])
        except (NotGenerated, NoSchedule) as error:
            raise StudioError(f"{kernel.name} has no loops: {error}.") from error
    return kernel.name, f"{kernel.name}, {kernel.workload(1).title}", algorithm, schedule


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
