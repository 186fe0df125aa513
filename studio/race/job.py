"""A race between variants, once for each question: which is faster, and how sure that is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from profiling.fleet.ray_cluster import executor
from profiling.racing.plan import RacePlan
from profiling.racing.questions import run_races
from profiling.racing.race import Race, Variant
from profiling.records import Measurement
from studio.experiment import Equipment, Experiment, OfRaces, measurement, report_format
from studio.race.finding import finding
from studio.variants.variant import TraceVariant, materialized


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """What to race.

    Attributes:
        asked: the variants for each question, deployed first; the baseline first in each.
        seconds: for the steady state of all and all questions.
        runs: steady runs of each at least, if they fit into `seconds`.
    """

    asked: tuple[tuple[TraceVariant, ...], ...]
    seconds: float = 20.0
    runs: int = 200

    @property
    def seconds_each(self) -> float:
        """For the steady state of all, of one question."""
        return self.seconds / len(self.asked)


@dataclass(frozen=True, slots=True)
class RacedGraph:
    """Which graph a variant was.

    Attributes:
        step: of its trace; -1 is the last.
        preset: whose trace; empty for the one that was open.
        workload: SHA-256 of the file that ran.
    """

    step: int
    preset: str = ""
    workload: str = ""


@dataclass(frozen=True, slots=True)
class RaceReport(OfRaces):
    """What came out.

    Attributes:
        races: phases, latencies, verdict; one for each question, deployed first.
        graphs: what each variant was, in the same order.
        headline: the finding, where it says more than who is fastest.
    """

    races: tuple[Race, ...]
    graphs: tuple[RacedGraph, ...]
    headline: str = ""

    def all_races(self) -> tuple[Race, ...]:
        """The races, deployed first."""
        return self.races

    @property
    def title(self) -> str:
        """The finding, one line."""
        return self.headline or finding(*self.races)

    def measurements(self) -> list[Measurement]:
        """A row for each variant and question."""
        return [row for race in self.races for row in measurements_of(race, self.graphs)]


def run_race(bench: Equipment, request: RaceRequest) -> RaceReport:
    """Write the variants' files and race them for each question.

    Raises:
        StudioError: a file cannot be written, or nothing runs.
    """
    bench.progress("writing the models", 0.0)
    asked = [materialized(variants, bench.store, bench.subject) for variants in request.asked]
    races = run_races(
        asked,
        RacePlan(runs=request.runs, seconds=request.seconds_each),
        executor(bench.pool),
        **bench.following,
        partial=bench.partial,
    )
    return RaceReport(*bench.source, races, graphs_of(request.asked[0], asked[0]))


RACE_EXPERIMENT = Experiment(
    "race",
    "race",
    run_race,
    report_format(
        RaceReport,
        "race",
        version=2,
        older={"passlens.race-report/1": lambda old: {**old, "races": [old["race"]]}},
    ),
)


def graphs_of(variants: Sequence[TraceVariant], files: Sequence[Variant]) -> tuple[RacedGraph, ...]:
    """What each variant is, with its file's hash."""
    return tuple(
        RacedGraph(variant.step, variant.preset, workload_of(file.model))
        for variant, file in zip(variants, files, strict=True)
    )


def workload_of(model: bytes | Path) -> str:
    """SHA-256 of a file that runs."""
    if isinstance(model, bytes):
        return hashlib.sha256(model).hexdigest()
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def measurements_of(race: Race, graphs: Sequence[RacedGraph]) -> list[Measurement]:
    """A flat row for each variant.

    Args:
        race: any.
        graphs: what each of its variants was.
    """
    return [
        measurement(
            race, timing, workload=graph.workload, step=None if graph.preset else graph.step
        )
        for timing, graph in zip(race.timings, graphs, strict=True)
    ]
