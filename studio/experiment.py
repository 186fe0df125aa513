"""An experiment: variants measured here, kept as a recording, and drawn again from it.

What makes a report, how it is written and which kind of recording it is stand in one declaration;
`conducted` and the page's `offer` do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from optimizer.codec import Format, Upgrade
from optimizer.isolation import Following, Progress, silent
from optimizer.numbers import counted
from profiling.machine import Machine
from profiling.racing.race import Race, Timing
from profiling.records import Kind, Measurement, Recording
from profiling.records.database import MOST_PAYLOAD_BYTES
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.artifacts.store import Store

Keep = Callable[[Recording], int | None]
"""Takes a recording to the records; its id there, or None."""


def _never() -> bool:
    return False


def _unseen(_partial: object) -> None:
    """What is known so far, for nobody."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What an experiment works with, and who is told of it.

    Attributes:
        store: where the files of steps are.
        pool: where they run.
        subject: the open model and its run.
        progress: told what is done, and which share.
        cancelled: asked often.
        partial: gets what is known so far.
    """

    store: Store
    pool: WorkerPool
    subject: Subject
    progress: Progress = silent
    cancelled: Callable[[], bool] = _never
    partial: Callable[[Any], None] = _unseen

    @property
    def following(self) -> Following:
        """Who is told, and asked."""
        return {"progress": self.progress, "cancelled": self.cancelled}

    @property
    def model(self) -> OpenedModel:
        """The open model."""
        return self.subject[0]

    @property
    def run(self) -> OpenedRun:
        """Its run."""
        return self.subject[1]

    @property
    def source(self) -> tuple[str, str]:
        """The model's display name, and the SHA-256 of its file."""
        return self.model.summary.name, self.model.summary.digest


@dataclass(frozen=True, slots=True)
class Report:
    """What an experiment found, written by `report_format`.

    Attributes:
        model: display name.
        model_hash: SHA-256 of the source model.
        record_id: of its recording; None where it was not kept, and never written.
    """

    model: str
    model_hash: str
    record_id: int | None = field(default=None, kw_only=True)

    @property
    def title(self) -> str:
        """The finding, one line."""
        raise NotImplementedError

    def measurements(self) -> Sequence[Measurement]:
        """A flat row for each variant; none where nothing was measured."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TimedReport(Report):
    """A report that says itself where and when it was measured.

    Attributes:
        machine: it ran on.
        started_at: UTC, ISO 8601.
        seconds: duration.
    """

    machine: Machine
    started_at: str
    seconds: float


class OfRaces(Report):
    """A report that rests on races, which say where and when."""

    __slots__ = ()

    def all_races(self) -> Sequence[Race]:
        """The races, the first one first."""
        raise NotImplementedError

    @property
    def machine(self) -> Machine:
        """Before the first race."""
        return self.all_races()[0].machine

    @property
    def started_at(self) -> str:
        """Of the first race."""
        return self.all_races()[0].started_at

    @property
    def seconds(self) -> float:
        """Of all races."""
        return sum(race.seconds for race in self.all_races())


Request = TypeVar("Request")
Found = TypeVar("Found", bound=TimedReport | OfRaces)


def _all(request: Any) -> Hashable:
    return request


@dataclass(frozen=True, slots=True)
class Experiment(Generic[Request, Found]):
    """One kind of thing that is measured.

    Attributes:
        name: in the keys of its tasks.
        kind: of its recordings.
        run: measures; fails only where nothing can be measured at all.
        form: how its report is written.
        relevant: what of a request the report depends on.
        shortened: a report without what can be done without, for recordings that are too large.
    """

    name: str
    kind: Kind
    run: Callable[[Equipment, Request], Found]
    form: Format[Found]
    relevant: Callable[[Request], Hashable] = _all
    shortened: Callable[[Found], Found] | None = None

    def key(self, subject: Subject, request: Request) -> Hashable:
        """Of the task that runs it: equal experiments, equal keys; a reload finds it again."""
        model, run = subject
        return (self.name, model.key, run.key, self.relevant(request))

    def recording(self, found: Found, *, most_bytes: int = MOST_PAYLOAD_BYTES) -> Recording | None:
        """What the records keep; None where nothing was measured."""
        rows = tuple(found.measurements())
        if not rows:
            return None
        written = found
        if self.shortened is not None and len(self.form.dumps(found)) > most_bytes:
            written = self.shortened(found)
        return Recording(
            self.kind, found.title, found.model, found.model_hash, found.machine,
            found.started_at, found.seconds, rows, self.form.to_json(written),
        )  # fmt: skip

    def conducted(self, bench: Equipment, request: Request, keep: Keep) -> Found:
        """Measure, and keep what was found.

        Raises:
            StudioError: nothing can be measured, or it was cancelled.
        """
        found = self.run(bench, request)
        recording = self.recording(found)
        if recording is None:
            return found
        bench.progress("keeping the recording", 1.0)
        kept: Any = found
        return replace(kept, record_id=keep(recording))


def report_format(
    report: type[Found], name: str, *, version: int = 1, older: Mapping[str, Upgrade] | None = None
) -> Format[Found]:
    """How an experiment's report is written."""
    schema = f"passlens.{name}-report/{version}"
    return Format(report, schema, f"recorded {name}", names={"record_id": None}, older=older)


def measurement(
    race: Race, timing: Timing, *, label: str = "", workload: str = "", step: int | None = None
) -> Measurement:
    """A variant's share of a race as a flat row.

    Args:
        race: any.
        timing: one of its.
        label: the variant's own unless given.
        workload: SHA-256 of the file that ran.
        step: of the open trace; None where it is another trace's.
    """
    summary, phases = timing.summary, timing.phases
    return Measurement(
        label=label or timing.label,
        workload=workload,
        step=step,
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


def measured_on(machine: Machine, started_at: str) -> str:
    """Where and when, for a caption."""
    where = ", ".join(filter(None, (machine.cpu, machine.gpu, machine.runtime)))
    started = started_at.replace("T", " ").partition("+")[0]
    return f"{where}, {counted(machine.cores, 'core')}; {started} UTC"
