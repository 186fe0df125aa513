"""A race between variants, once for each question: which is faster, and how sure that is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError
from profiling.fleet.choice import executor
from profiling.racing.plan import RacePlan
from profiling.racing.questions import run_races
from profiling.racing.race import RACE, Race, Timing, Variant
from profiling.records import Measurement, Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.race.finding import finding
from studio.variants.entrant import Entrant, entrant_key, variants_of

SCHEMA = "passlens.race-report/2"
ONE_RACE = "passlens.race-report/1"
"""Had one race, for one question."""

Report = Callable[[str, float], None]
Asked = Callable[[], bool]
Keep = Callable[[Recording], int | None]
"""Takes a recording to the records; its id there, or None."""


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """What to race.

    Attributes:
        asked: the variants for each question, deployed first; the baseline first in each.
        seconds: for the steady state of all and all questions.
        runs: steady runs of each at least, if they fit into `seconds`.
    """

    asked: tuple[tuple[Entrant, ...], ...]
    seconds: float = 20.0
    runs: int = 200

    @property
    def seconds_each(self) -> float:
        """For the steady state of all, of one question."""
        return self.seconds / len(self.asked)


@dataclass(frozen=True, slots=True)
class Raced:
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
class RaceReport:
    """What came out.

    Attributes:
        races: phases, latencies, verdict; one for each question, deployed first.
        graphs: what each variant was, in the same order.
        model: display name.
        model_hash: SHA-256 of the source model.
        kept: id of its recording; None where it was not kept.
    """

    races: tuple[Race, ...]
    graphs: tuple[Raced, ...]
    model: str
    model_hash: str
    kept: int | None = None

    def recording(self) -> Recording:
        """What the records keep."""
        return Recording(
            kind="race",
            title=finding(*self.races),
            model=self.model,
            model_hash=self.model_hash,
            machine=self.races[0].machine,
            started_at=self.races[0].started_at,
            seconds=sum(race.seconds for race in self.races),
            measurements=tuple(
                row for race in self.races for row in measurements_of(race, self.graphs)
            ),
            payload={
                "schema": SCHEMA,
                "model": self.model,
                "model_hash": self.model_hash,
                "graphs": [asdict(graph) for graph in self.graphs],
                "races": [RACE.to_json(race) for race in self.races],
            },
        )


def race_from_payload(payload: Mapping[str, Any]) -> RaceReport:
    """The report again.

    Raises:
        StudioError: the payload is not of this schema.
    """
    if payload.get("schema") not in (SCHEMA, ONE_RACE):
        raise StudioError(f"This is no recorded race: its schema is not {SCHEMA}.")
    try:
        races = payload["races"] if payload["schema"] == SCHEMA else [payload["race"]]
        return RaceReport(
            tuple(map(RACE.from_json, races)),
            tuple(Raced(**graph) for graph in payload["graphs"]),
            payload["model"],
            payload["model_hash"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded race is damaged: {type(error).__name__}.") from error


def run_race(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: RaceRequest,
    *,
    progress: Report,
    cancelled: Asked,
    keep: Keep | None = None,
    partial: Callable[[tuple[Race, ...]], None] | None = None,
) -> RaceReport:
    """Write the entrants' files and race them for each question.

    Args:
        store: where the files are.
        pool: where they run, unless the environment names a cluster.
        subject: the open model and its run.
        request: what to race.
        progress: told what is done, and which share.
        cancelled: asked often.
        keep: gets the recording when the race is over.
        partial: gets the races as far as they are known.

    Raises:
        StudioError: a file cannot be written, or nothing runs.
    """
    model, _ = subject
    progress("writing the models", 0.0)
    asked = [variants_of(entrants, store, subject) for entrants in request.asked]
    races = run_races(
        asked,
        RacePlan(runs=request.runs, seconds=request.seconds_each),
        executor(pool),
        progress=progress,
        cancelled=cancelled,
        partial=partial,
    )
    graphs = graphs_of(request.asked[0], asked[0])
    report = RaceReport(races, graphs, model.summary["name"], model.summary["digest"])
    return report if keep is None else replace(report, kept=keep(report.recording()))


def graphs_of(entrants: Sequence[Entrant], variants: Sequence[Variant]) -> tuple[Raced, ...]:
    """What each variant is, with its file's hash."""
    return tuple(
        Raced(entrant.step, entrant.preset, workload_of(variant.model))
        for entrant, variant in zip(entrants, variants, strict=True)
    )


def workload_of(model: bytes | Path) -> str:
    """SHA-256 of a file that runs."""
    if isinstance(model, bytes):
        return hashlib.sha256(model).hexdigest()
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def race_key(model: OpenedModel, run: OpenedRun, request: RaceRequest) -> tuple[object, ...]:
    """Equal races have equal keys: a reload finds its race again."""
    asked = tuple(tuple(map(entrant_key, entrants)) for entrants in request.asked)
    return ("race", model.key, run.key, asked, request.runs, request.seconds)


def measurements_of(race: Race, graphs: Sequence[Raced]) -> tuple[Measurement, ...]:
    """A flat row for each variant.

    Args:
        race: any.
        graphs: what each of its variants was.
    """
    return tuple(
        _measurement(race, timing, graph)
        for timing, graph in zip(race.timings, graphs, strict=True)
    )


def _measurement(race: Race, timing: Timing, graph: Raced) -> Measurement:
    summary, phases = timing.summary, timing.phases
    return Measurement(
        label=timing.label,
        workload=graph.workload,
        step=graph.step if not graph.preset else None,
        options=dict(sorted(timing.config.changed().items())),
        p50_ms=summary.p50_ms if summary else None,
        p95_ms=summary.p95_ms if summary else None,
        min_ms=summary.min_ms if summary else None,
        first_ms=phases.first_ms if phases else None,
        create_ms=phases.create_ms if phases else None,
        runs=len(timing.latencies_ms),
        peak_bytes=timing.peak_bytes,
        error=timing.error,
        verdict=race.verdict(timing.label),
    )
