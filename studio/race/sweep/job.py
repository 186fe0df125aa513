"""A sweep: the same race at several sizes of one dimension of the inputs, for each question."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from optimizer.errors import StudioError
from optimizer.verify.feeds import Input
from profiling.fleet.choice import executor
from profiling.racing.dimensions import free_dimensions
from profiling.racing.plan import RacePlan
from profiling.racing.questions import in_turn
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast
from profiling.racing.sweep import SWEEP, Sweep, sweep
from profiling.records import Measurement, Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.numbers import times_text
from studio.race.job import Asked, Keep, Raced, Report, graphs_of, measurements_of
from studio.variants.entrant import Entrant, entrant_key, variants_of

SCHEMA = "passlens.sweep-report/2"
ONE_SWEEP = "passlens.sweep-report/1"
"""Had one sweep, for one question."""


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """What to sweep.

    Attributes:
        asked: the variants for each question, deployed first; the baseline first in each.
        dimension: name of the free dimension.
        sizes: rising.
        seconds: for the steady state of all at one size, for one question.
    """

    asked: tuple[tuple[Entrant, ...], ...]
    dimension: str
    sizes: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What came out.

    Attributes:
        sweeps: a race a size; one for each question, deployed first.
        graphs: what each variant was.
        model: display name.
        model_hash: SHA-256 of the source model.
        kept: id of its recording; None where it was not kept.
    """

    sweeps: tuple[Sweep, ...]
    graphs: tuple[Raced, ...]
    model: str
    model_hash: str
    kept: int | None = None

    def recording(self) -> Recording | None:
        """What the records keep; None where nothing ran at any size."""
        races = [race for found in self.sweeps for race in races_of(found).values()]
        if not races:
            return None
        first = races[0]
        return Recording(
            kind="sweep",
            title=sweep_finding(*self.sweeps),
            model=self.model,
            model_hash=self.model_hash,
            machine=first.machine,
            started_at=first.started_at,
            seconds=sum(race.seconds for race in races),
            measurements=tuple(self._measurements()),
            payload={
                "schema": SCHEMA,
                "model": self.model,
                "model_hash": self.model_hash,
                "graphs": [asdict(graph) for graph in self.graphs],
                "sweeps": [SWEEP.to_json(found) for found in self.sweeps],
            },
        )

    def _measurements(self) -> list[Measurement]:
        return [
            replace(row, label=f"{row.label}, {found.dimension} {size}")
            for found in self.sweeps
            for size, race in races_of(found).items()
            for row in measurements_of(race, self.graphs)
        ]


def sweep_from_payload(payload: Mapping[str, Any]) -> SweepReport:
    """The report again.

    Raises:
        StudioError: the payload is not of this schema.
    """
    if payload.get("schema") not in (SCHEMA, ONE_SWEEP):
        raise StudioError(f"This is no recorded sweep: its schema is not {SCHEMA}.")
    try:
        sweeps = payload["sweeps"] if payload["schema"] == SCHEMA else [payload["sweep"]]
        return SweepReport(
            tuple(map(SWEEP.from_json, sweeps)),
            tuple(Raced(**graph) for graph in payload["graphs"]),
            payload["model"],
            payload["model_hash"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded sweep is damaged: {type(error).__name__}.") from error


def run_sweep(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: SweepRequest,
    *,
    progress: Report,
    cancelled: Asked,
    keep: Keep | None = None,
    partial: Callable[[tuple[Sweep, ...]], None] | None = None,
) -> SweepReport:
    """Write the entrants' files and race them at each size, for each question.

    Raises:
        StudioError: a file cannot be written, or the dimension is not free.
    """
    model, _ = subject
    progress("writing the models", 0.0)
    asked = [variants_of(entrants, store, subject) for entrants in request.asked]

    def one(variants: Sequence[Variant], told: Report, seen: Callable[[Sweep], None]) -> Sweep:
        return sweep(
            variants,
            dimension=request.dimension,
            sizes=request.sizes,
            pool=pool,
            executor=executor(pool),
            plan=RacePlan(seconds=request.seconds),
            progress=told,
            cancelled=cancelled,
            observe=seen,
        )

    found = in_turn(asked, one, progress=progress, partial=partial)
    graphs = graphs_of(request.asked[0], asked[0])
    report = SweepReport(found, graphs, model.summary["name"], model.summary["digest"])
    recording = report.recording()
    if keep is None or recording is None:
        return report
    return replace(report, kept=keep(recording))


def sweep_key(model: OpenedModel, run: OpenedRun, request: SweepRequest) -> tuple[object, ...]:
    """Equal sweeps have equal keys: a reload finds its sweep again."""
    asked = tuple(tuple(map(entrant_key, entrants)) for entrants in request.asked)
    sizes = (request.dimension, request.sizes, request.seconds)
    return ("sweep", model.key, run.key, asked, *sizes)


def dimensions_of(model: OpenedModel) -> tuple[str, ...]:
    """Names of the sizes that the model leaves open, the first input's first."""
    inputs = [
        Input(port["name"], port["dtype"], _shape(port["shape"]))
        for port in model.summary["inputs"]
    ]
    names = (dimension.name for dimension in free_dimensions(inputs))
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
