"""A race between variants: which one is faster, and how sure that is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError
from profiling.fleet.choice import executor
from profiling.racing.executor import RaceJob, race_of
from profiling.racing.plan import Plan
from profiling.racing.race import Race, Timing, Variant
from profiling.racing.race_json import race_from_json, race_to_json
from profiling.records import Measurement, Recording
from profiling.workers import WorkerPool
from studio.experiments.entrant import Entrant, entrant_key, variants_of
from studio.store import OpenedModel, OpenedRun, Store

SCHEMA = "passlens.race-report/1"
Report = Callable[[str, float], None]
Asked = Callable[[], bool]
Keep = Callable[[Recording], int | None]
"""Takes a recording to the records; its id there, or None."""


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """What to race.

    Attributes:
        entrants: the baseline first.
        seconds: for the steady state of all.
        runs: steady runs of each at least, if they fit into `seconds`.
    """

    entrants: tuple[Entrant, ...]
    seconds: float = 20.0
    runs: int = 200


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
        race: phases, latencies, verdict.
        graphs: what each of its variants was, in the same order.
        model: display name.
        model_hash: SHA-256 of the source model.
        kept: id of its recording; None where it was not kept.
    """

    race: Race
    graphs: tuple[Raced, ...]
    model: str
    model_hash: str
    kept: int | None = None

    def recording(self) -> Recording:
        """What the records keep."""
        return Recording(
            kind="race",
            title=finding(self.race),
            model=self.model,
            model_hash=self.model_hash,
            machine=self.race.machine,
            started_at=self.race.started_at,
            seconds=self.race.seconds,
            measurements=measurements_of(self.race, self.graphs),
            payload={
                "schema": SCHEMA,
                "model": self.model,
                "model_hash": self.model_hash,
                "graphs": [asdict(graph) for graph in self.graphs],
                "race": race_to_json(self.race),
            },
        )


def race_from_payload(payload: Mapping[str, Any]) -> RaceReport:
    """The report again.

    Raises:
        StudioError: the payload is not of this schema.
    """
    if payload.get("schema") != SCHEMA:
        raise StudioError(f"This is no recorded race: its schema is not {SCHEMA}.")
    try:
        return RaceReport(
            race_from_json(payload["race"]),
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
    partial: Callable[[Race], None] | None = None,
) -> RaceReport:
    """Write the entrants' files and race them.

    Args:
        store: where the files are.
        pool: where they run, unless the environment names a cluster.
        subject: the open model and its run.
        request: what to race.
        progress: told what is done, and which share.
        cancelled: asked often.
        keep: gets the recording when the race is over.
        partial: gets the race as far as it is known.

    Raises:
        StudioError: a file cannot be written, or nothing runs.
    """
    model, _ = subject
    progress("writing the models", 0.0)
    variants = variants_of(request.entrants, store, subject)
    job = RaceJob(tuple(variants), Plan(runs=request.runs, seconds=request.seconds))
    (outcome,) = executor(pool).run(
        [job],
        progress=progress,
        cancelled=cancelled,
        observe=None if partial is None else lambda _, race: partial(race),
    )
    race = race_of(outcome)
    graphs = graphs_of(request.entrants, variants)
    report = RaceReport(race, graphs, model.summary["name"], model.summary["digest"])
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
    entrants = tuple(map(entrant_key, request.entrants))
    return ("race", model.key, run.key, entrants, request.runs, request.seconds)


def finding(race: Race) -> str:
    """The race in one line: "Default preset: 1.31× faster, 95 % interval 1.27–1.36"."""
    baseline = race.baseline
    others = [t for t in race.timings if t is not baseline]
    timed = [t for t in others if t.believable and race.contrast(t.label) is not None]
    if not timed or not baseline.blocks_ms:
        broken = [t.label for t in race.timings if not t.believable] or [race.timings[0].label]
        return f"No comparison: {' and '.join(broken)} gave no times to compare"
    if len(others) == 1:
        return f"{_start(timed[0].label)}: {race.verdict(timed[0].label)}"
    return _best(race, timed)


def _best(race: Race, timed: Sequence[Timing]) -> str:
    found = [(race.contrast(timing.label), timing) for timing in timed]
    faster = [(c.speedup, t) for c, t in found if c is not None and c.verdict == "faster"]
    if faster:
        _, best = max(faster, key=lambda pair: pair[0])
        return f"Best of {len(timed) + 1}: {best.label}, {race.verdict(best.label)}"
    if all(c is not None and c.verdict == "slower" for c, _ in found):
        return f"Nothing beats {race.baseline.label}: {_count(timed)} slower"
    return f"No clear gain over {race.baseline.label}: {_count(timed)} not clearly faster"


def _count(timed: Sequence[Timing]) -> str:
    return "one other is" if len(timed) == 1 else f"{len(timed)} others are"


def _start(label: str) -> str:
    return label[:1].upper() + label[1:]


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
