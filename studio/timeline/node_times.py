"""Node times as an overlay of the viewer: kept when some steps of a run were profiled."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.codec import Format, written_as
from studio.artifacts.opened import OpenedRun
from studio.overlays import keep_numbers, kept_numbers

OVERLAY = "node_times"


@dataclass(frozen=True, slots=True)
class MeasuredKernel:
    """An operator that ran.

    Attributes:
        first_us: in the first run.
        steady_us: median of later runs.
        nodes: ids of the step's nodes that it computes.
    """

    first_us: float
    steady_us: float
    op_type: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The operators of one step as they ran.

    Attributes:
        label: of the variant.
        profiler_us: what the profiler took of each operator, and was taken off; None where nothing
            was.
    """

    step: int
    label: str
    kernels: tuple[MeasuredKernel, ...]
    profiler_us: float | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """Steps of a run that were profiled together."""

    profiles: tuple[StepTimes, ...]


written_as(
    MeasuredKernel,
    lambda one: [one.first_us, one.steady_us, one.op_type, list(one.nodes)],
    lambda row: MeasuredKernel(row[0], row[1], row[2], tuple(row[3])),
)
TIMES = Format(Times, "passlens.times/1", "profile of a run")


def keep_times(run: OpenedRun, times: Times) -> None:
    """Leave them where the viewer finds them, and `measured_times`."""
    keep_numbers(run, OVERLAY, TIMES.to_json(times))


def measured_times(run: OpenedRun, step: int) -> StepTimes | None:
    """The newest times of a step that were kept with this run; None if it was never profiled."""
    documents = kept_numbers(run, OVERLAY)
    found = (one for document in documents for one in TIMES.from_json(document).profiles)
    return next((one for one in found if one.step == step), None)
