"""Transposes of a model: which there are, in a worker; and how fast the largest of them are."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass, replace
from statistics import median

from optimizer.codec import Format
from optimizer.isolation import Progress
from optimizer.layout.transposes import MovedTensor, PlacedTranspose, transposes
from optimizer.rewrite.graph_at import TraceFiles, own_graph_at
from profiling.machine import this_machine
from profiling.records import Measurement
from profiling.transposes.measurement import FAR, TransposeTimes, measure_transposes
from studio.artifacts.artifact import Artifact, Value
from studio.experiment import Equipment, Experiment, TimedReport, report_format

MOST_MEASURED = 12
SECONDS = 0.5
"""For each that is measured."""


@dataclass(frozen=True, slots=True)
class FoundTransposes:
    """The Transposes of a graph.

    Attributes:
        placed: those that move something, the largest first.
    """

    placed: tuple[PlacedTranspose, ...]

    @property
    def tensors(self) -> tuple[MovedTensor, ...]:
        """Distinct ones, the largest first."""
        return tuple(dict.fromkeys(one.tensor for one in self.placed))


def find_transposes(files: TraceFiles, step: int, *, progress: Progress) -> FoundTransposes:
    """Those of a step.

    Raises:
        StudioError: the trace cannot be read.
    """
    progress("reading the graph", 0.2)
    placed = transposes(own_graph_at(files, step).ir.graph)
    return FoundTransposes(tuple(sorted(placed, key=lambda one: -one.tensor.size_bytes)))


TRANSPOSES: Artifact[int, FoundTransposes] = Artifact(
    "transposes",
    find_transposes,
    Value(Format(FoundTransposes, "passlens.transposes/1", "list of Transposes")),
)
"""By the step."""


@dataclass(frozen=True, slots=True)
class TransposesReport(TimedReport):
    """What was measured.

    Attributes:
        times: of each, the largest tensor first.
        distinct: how many different ones the model has.
    """

    times: tuple[TransposeTimes, ...]
    distinct: int

    @property
    def timed(self) -> tuple[TransposeTimes, ...]:
        """Those that the runtime ran."""
        return tuple(one for one in self.times if not one.error)

    @property
    def title(self) -> str:
        """The finding, one line."""
        if not self.timed:
            return "No Transpose of this model could be measured"
        shares = [one.share for one in self.timed]
        far = sum(share < FAR for share in shares)
        return (
            f"The median Transpose reaches {100 * median(shares):.0f} % of a plain copy's rate,"
            f" {far} of {len(shares)} less than {100 * FAR:.0f} %"
        )

    def measurements(self) -> list[Measurement]:
        """Three rows for each."""
        return [row for one in self.timed for row in _rows(one)]


def _rows(one: TransposeTimes) -> list[Measurement]:
    ways = {"as written": one.written_us, "reduced": one.reduced_us, "plain copy": one.copy_us}
    return [Measurement(f"{one.tensor.text}: {way}", p50_ms=us / 1e3) for way, us in ways.items()]


def run_transposes(bench: Equipment, request: tuple[MovedTensor, ...]) -> TransposesReport:
    """Measure the first of them.

    Raises:
        StudioError: no worker could be had.
        Cancelled: it was.
    """
    started, began = datetime.datetime.now(datetime.UTC), time.monotonic()
    made = TransposesReport(
        *bench.source, this_machine(), started.isoformat(timespec="seconds"), 0.0, (), len(request)
    )
    times = measure_transposes(
        request[:MOST_MEASURED],
        pool=bench.pool,
        seconds=SECONDS,
        progress=bench.progress,
        cancelled=bench.cancelled,
        observe=lambda found: bench.partial(replace(made, times=found)),
    )
    return replace(made, times=times, seconds=time.monotonic() - began)


TRANSPOSES_EXPERIMENT = Experiment(
    "transposes", "kernels", run_transposes, report_format(TransposesReport, "transposes")
)
"""Of distinct ones, those first that are to be measured."""
