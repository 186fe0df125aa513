"""A sweep: the same race at several sizes of one dimension of the inputs, for each question."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from optimizer.numbers import times_text
from optimizer.verify.feeds import Input
from profiling.fleet.ray_cluster import executor
from profiling.racing.dimensions import free_dimensions
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race
from profiling.racing.samples import Contrast
from profiling.racing.sweep import Sweep, run_sweeps
from profiling.records import Measurement
from studio.artifacts.opened import OpenedModel
from studio.experiment import Equipment, Experiment, OfRaces, report_format
from studio.race.job import RacedGraph, graphs_of, measurements_of
from studio.variants.variant import TraceVariant, materialized


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """What to sweep.

    Attributes:
        asked: the variants for each question, deployed first; the baseline first in each.
        dimension: name of the free dimension.
        sizes: rising.
        seconds: for the steady state of all at one size, for one question.
    """

    asked: tuple[tuple[TraceVariant, ...], ...]
    dimension: str
    sizes: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class SweepReport(OfRaces):
    """What came out.

    Attributes:
        sweeps: a race a size; one for each question, deployed first.
        graphs: what each variant was.
    """

    sweeps: tuple[Sweep, ...]
    graphs: tuple[RacedGraph, ...]

    def all_races(self) -> list[Race]:
        """The races, size by size."""
        return [race for found in self.sweeps for race in races_of(found).values()]

    @property
    def title(self) -> str:
        """The finding, one line."""
        return sweep_finding(*self.sweeps)

    def measurements(self) -> list[Measurement]:
        """A row for each variant, size and question; none where nothing ran at any size."""
        return [
            replace(row, label=f"{row.label}, {found.dimension} {size}")
            for found in self.sweeps
            for size, race in races_of(found).items()
            for row in measurements_of(race, self.graphs)
        ]


def run_sweep(bench: Equipment, request: SweepRequest) -> SweepReport:
    """Write the variants' files and race them at each size, for each question.

    Raises:
        StudioError: a file cannot be written, or the dimension is not free.
    """
    bench.progress("writing the models", 0.0)
    asked = [materialized(variants, bench.store, bench.subject) for variants in request.asked]

    found = run_sweeps(
        asked,
        RacePlan(seconds=request.seconds),
        executor(bench.pool),
        dimension=request.dimension,
        sizes=request.sizes,
        pool=bench.pool,
        **bench.following,
        partial=bench.partial,
    )
    return SweepReport(*bench.source, found, graphs_of(request.asked[0], asked[0]))


SWEEP_EXPERIMENT = Experiment(
    "sweep",
    "sweep",
    run_sweep,
    report_format(
        SweepReport,
        "sweep",
        version=2,
        older={"passlens.sweep-report/1": lambda old: {**old, "sweeps": [old["sweep"]]}},
    ),
)


def dimensions_of(model: OpenedModel) -> tuple[str, ...]:
    """Names of the sizes that the model leaves open, the first input's first."""
    inputs = [Input(port.name, port.dtype, _shape(port.shape)) for port in model.summary.inputs]
    names = free_dimensions(inputs)
    return tuple(name for name in names if re.fullmatch(r"[A-Za-z_][\w.]{0,79}", name))


def _shape(text: str) -> tuple[int | str, ...]:
    return tuple(int(part) if part.isdecimal() else part for part in text.split("×"))


def races_of(found: Sweep) -> dict[int, Race]:
    """Size -> race, where there is one."""
    return {point.size: point.race for point in found.points if point.race is not None}


def sweep_finding(*sweeps: Sweep) -> str:
    """One line: what the variant that gains most gains at both ends, for each question."""
    if len(sweeps) == 1:
        return _finding(sweeps[0])
    told = "; ".join(f"{found.question}: {_finding(found)}" for found in sweeps)
    return told[:1].upper() + told[1:]


def _finding(found: Sweep) -> str:
    gains = {label: _gains(found, label) for label in found.labels[1:]}
    known = {label: list(gain.items()) for label, gain in gains.items() if gain}
    if not known:
        return f"no comparison at any {found.dimension} yet"
    best = max(known, key=lambda label: sum(math.log(c.speedup) for _, c in known[label]))
    (low, first), (high, last) = known[best][0], known[best][-1]
    name = best[:1].upper() + best[1:]
    text = f"{name} against {found.labels[0]}: {_times(first)} at {found.dimension} {low}"
    if low == high:
        return text
    same = _times(first) == _times(last)
    return f"{text} and {high}" if same else f"{text}, {_times(last)} at {high}"


def _gains(found: Sweep, label: str) -> dict[int, Contrast]:
    """Size -> how much faster a variant is than the first one, where both have times."""
    gains: dict[int, Contrast] = {}
    for size, race in sorted(races_of(found).items()):
        believable = {timing.label for timing in race.timings if timing.believable}
        if {label, found.labels[0]} <= believable:
            gain = race.contrast(label, baseline=found.labels[0])
            if gain is not None:
                gains[size] = gain
    return gains


def _times(gain: Contrast) -> str:
    unclear = gain.verdict == "no_clear_difference"
    return gain.claim if unclear else times_text(gain.speedup)
