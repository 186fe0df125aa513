"""Node times as an overlay of the viewer: kept when some steps of a run were profiled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from profiling.timeline.attribution import Kernel
from studio.artifacts.opened import OpenedRun
from studio.overlays import kept_numbers

SCHEMA = "passlens.times/1"
OVERLAY = "node_times"


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The operators of one step as they ran.

    Attributes:
        label: of the variant.
        first: in the first run.
        steady: medians of later runs; the same operators.
        profiler_us: what the profiler took of each operator, and was taken off; None where nothing
            was.
    """

    step: int
    label: str
    first: tuple[Kernel, ...]
    steady: tuple[Kernel, ...]
    profiler_us: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredKernel:
    """An operator that ran.

    Attributes:
        steady_us: median of later runs.
        nodes: ids of the step's nodes that it computes.
    """

    op_type: str
    steady_us: float
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredTimes:
    """What a profile of a step says, read again.

    Attributes:
        label: of the variant.
        profiler_us: what the profiler took of each operator, and was taken off; None where nothing
            was.
    """

    step: int
    label: str
    kernels: tuple[MeasuredKernel, ...]
    profiler_us: float | None = None


def times_json(steps: Iterable[StepTimes]) -> dict[str, Any]:
    """`passlens.times/1`: for each step its operators, and the ids of the nodes of each."""
    return {"schema": SCHEMA, "profiles": [_profile(one) for one in steps]}


def measured_times(run: OpenedRun, step: int) -> MeasuredTimes | None:
    """The newest times of a step that were kept with this run; None if it was never profiled."""
    for document in kept_numbers(run, OVERLAY):
        for profile in document["profiles"]:
            if profile["step"] == step:
                kernels = tuple(
                    MeasuredKernel(op_type, steady_us, tuple(nodes))
                    for _, steady_us, op_type, nodes in profile["kernels"]
                )
                return MeasuredTimes(step, profile["label"], kernels, profile.get("profiler_us"))
    return None


def _profile(times: StepTimes) -> dict[str, Any]:
    first = {kernel.name: kernel.time_us for kernel in times.first}
    return {
        "step": times.step,
        "label": times.label,
        "profiler_us": times.profiler_us,
        "kernels": [
            [first.get(one.name, 0.0), one.time_us, one.op_type, list(one.nodes)]
            for one in times.steady
        ],
    }
