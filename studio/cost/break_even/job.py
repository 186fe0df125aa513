"""When optimizing an open run has paid: a race of the source against the last step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from profiling.config import RunConfig
from profiling.config.question import with_question
from profiling.config.settings import from_values
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import RACE, Race, Variant
from profiling.records.recording import Recording
from profiling.workers import WorkerPool
from profiling.worth.break_even import BreakEven, break_even
from profiling.worth.measured import RUNS
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.rows import changed_options, rows
from studio.cost.waterfall.job import Keep


@dataclass(frozen=True, slots=True)
class BreakEvenRequest:
    """What to measure.

    Attributes:
        config: how both are run.
        seconds: of steady running for both together.
    """

    config: RunConfig
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class BreakEvenReport:
    """What came out.

    Attributes:
        race: the source and the last step.
        last: the last step.
        optimize_s: CPU time of optimizing.
        tune_s: seconds spent on tuning, as stated by a person.
        model: display name.
        model_hash: of the source file.
    """

    request: BreakEvenRequest
    race: Race
    last: int
    optimize_s: float
    tune_s: float
    model: str
    model_hash: str

    @property
    def result(self) -> BreakEven | None:
        """When it has paid; None where the race has no times that count."""
        return break_even(self.race, optimize_s=self.optimize_s, tune_s=self.tune_s)

    @property
    def finding(self) -> str:
        """The result in one line: "Deployed · Optimizing pays after 300 inferences"."""
        result = self.result
        if result is None:
            broken = next((t for t in self.race.timings if not t.believable), self.race.timings[-1])
            return f"No break-even: {broken.label} has no times that count"
        return with_question(self.request.config, str(result))

    def with_tuning(self, tune_s: float) -> BreakEvenReport:
        """The same race, with another time for tuning."""
        return replace(self, tune_s=tune_s)

    def recording(self) -> Recording:
        """The experiment for the records."""
        return Recording(
            kind="worth",
            title=self.finding,
            model=self.model,
            model_hash=self.model_hash,
            machine=self.race.machine,
            started_at=self.race.started_at,
            seconds=self.race.seconds,
            measurements=rows(self.race, (0, self.last)),
            payload={
                "section": "break-even",
                "model": self.model,
                "model_hash": self.model_hash,
                "options": changed_options(self.request.config),
                "seconds": self.request.seconds,
                "last": self.last,
                "optimize_s": self.optimize_s,
                "tune_s": self.tune_s,
                "race": RACE.to_json(self.race),
            },
        )


def break_even_key(
    model: OpenedModel, run: OpenedRun, request: BreakEvenRequest
) -> tuple[object, ...]:
    """Equal races have equal keys; the time for tuning is no part of a race."""
    options = tuple(sorted(request.config.changed().items()))
    return ("worth-break-even", model.key, run.key, options, request.seconds)


def run_break_even(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: BreakEvenRequest,
    *,
    tune_s: float,
    keep: Keep,
    progress: Callable[[str, float], None],
    cancelled: Callable[[], bool],
) -> BreakEvenReport:
    """Race the source against the last step.

    Raises:
        StudioError: a step cannot be written, or the source does not run.
    """
    model, run = subject
    last: int = run.result.steps
    ends = {"source": 0, f"step {last} (optimized)": last}
    variants = [
        Variant(label, store.materialize(model, run, step), request.config)
        for label, step in ends.items()
    ]
    race = measure(
        variants,
        pool=pool,
        plan=RacePlan(runs=RUNS, seconds=request.seconds),
        progress=progress,
        cancelled=cancelled,
    )
    seconds: float = run.result.seconds
    name: str = model.summary["name"]
    found = BreakEvenReport(request, race, last, seconds, tune_s, name, model.summary["digest"])
    keep(found.recording())
    return found


def break_even_from_payload(payload: Mapping[str, Any]) -> BreakEvenReport:
    """The report again."""
    return BreakEvenReport(
        BreakEvenRequest(from_values(payload["options"]), payload["seconds"]),
        RACE.from_json(payload["race"]),
        payload["last"],
        payload["optimize_s"],
        payload["tune_s"],
        payload["model"],
        payload["model_hash"],
    )
