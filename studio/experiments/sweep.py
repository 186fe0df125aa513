"""A sweep: the same race at several sizes of one dimension of the inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from optimizer.errors import StudioError
from optimizer.verify.feeds import Input
from profiling.fleet.choice import executor
from profiling.racing.dimensions import free_dimensions
from profiling.racing.plan import Plan
from profiling.racing.race import Race
from profiling.racing.samples import Contrast
from profiling.racing.sweep import Sweep, sweep, sweep_from_json, sweep_to_json
from profiling.records import Measurement, Recording
from profiling.workers import WorkerPool
from studio.experiments.entrant import Entrant, entrant_key, variants_of
from studio.experiments.race import Asked, Keep, Raced, Report, graphs_of, measurements_of
from studio.numbers import times_text
from studio.store import OpenedModel, OpenedRun, Store

SCHEMA = "passlens.sweep-report/1"


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """What to sweep.

    Attributes:
        entrants: the baseline first.
        dimension: name of the free dimension.
        sizes: rising.
        seconds: for the steady state of all at one size.
    """

    entrants: tuple[Entrant, ...]
    dimension: str
    sizes: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What came out.

    Attributes:
        sweep: a race a size.
        graphs: what each variant was.
        model: display name.
        model_hash: SHA-256 of the source model.
        kept: id of its recording; None where it was not kept.
    """

    sweep: Sweep
    graphs: tuple[Raced, ...]
    model: str
    model_hash: str
    kept: int | None = None

    def recording(self) -> Recording | None:
        """What the records keep; None where nothing ran at any size."""
        races = races_of(self.sweep)
        if not races:
            return None
        first = next(iter(races.values()))
        return Recording(
            kind="sweep",
            title=sweep_finding(self.sweep),
            model=self.model,
            model_hash=self.model_hash,
            machine=first.machine,
            started_at=first.started_at,
            seconds=sum(race.seconds for race in races.values()),
            measurements=tuple(self._measurements(races)),
            payload={
                "schema": SCHEMA,
                "model": self.model,
                "model_hash": self.model_hash,
                "graphs": [asdict(graph) for graph in self.graphs],
                "sweep": sweep_to_json(self.sweep),
            },
        )

    def _measurements(self, races: Mapping[int, Race]) -> list[Measurement]:
        return [
            replace(row, label=f"{row.label}, {self.sweep.dimension} {size}")
            for size, race in races.items()
            for row in measurements_of(race, self.graphs)
        ]


def sweep_from_payload(payload: Mapping[str, Any]) -> SweepReport:
    """The report again.

    Raises:
        StudioError: the payload is not of this schema.
    """
    if payload.get("schema") != SCHEMA:
        raise StudioError(f"This is no recorded sweep: its schema is not {SCHEMA}.")
    try:
        return SweepReport(
            sweep_from_json(payload["sweep"]),
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
    partial: Callable[[Sweep], None] | None = None,
) -> SweepReport:
    """Write the entrants' files and race them at each size.

    Raises:
        StudioError: a file cannot be written, or the dimension is not free.
    """
    model, _ = subject
    progress("writing the models", 0.0)
    variants = variants_of(request.entrants, store, subject)
    found = sweep(
        variants,
        dimension=request.dimension,
        sizes=request.sizes,
        pool=pool,
        executor=executor(pool),
        plan=Plan(seconds=request.seconds),
        progress=progress,
        cancelled=cancelled,
        observe=partial,
    )
    graphs = graphs_of(request.entrants, variants)
    report = SweepReport(found, graphs, model.summary["name"], model.summary["digest"])
    recording = report.recording()
    if keep is None or recording is None:
        return report
    return replace(report, kept=keep(recording))


def sweep_key(model: OpenedModel, run: OpenedRun, request: SweepRequest) -> tuple[object, ...]:
    """Equal sweeps have equal keys: a reload finds its sweep again."""
    entrants = tuple(map(entrant_key, request.entrants))
    sizes = (request.dimension, request.sizes, request.seconds)
    return ("sweep", model.key, run.key, entrants, *sizes)


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


def sweep_finding(found: Sweep) -> str:
    """The sweep in one line: what the variant that gains most gains at both ends."""
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
    return (
        "no clear difference" if gain.verdict == "no_clear_difference" else times_text(gain.speedup)
    )
