"""Leave one pass out: the pipeline without each pass, on paper and, if asked for, in a race."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from optimizer.errors import Cancelled, StudioError
from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.config.settings import from_values
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import RACE, Race, Variant
from profiling.racing.samples import Contrast
from profiling.records.recording import Recording
from profiling.workers import WorkerPool
from profiling.worth.ablation import Ablation, Outcome
from profiling.worth.measured import RUNS
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.rows import changed_options, rows
from studio.cost.trace_costs import PassName, TraceCosts, trace_costs
from studio.cost.waterfall.job import LARGE_BYTES, Keep
from studio.numbers import counted

MOST_RACED = 7
FULL = "all passes"
_PAPER_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class AblationRequest:
    """What to leave out and whether to race it.

    Attributes:
        pipeline: all passes.
        config: how variants are run.
        seconds: of steady running for all variants together; 0 for no race.
    """

    pipeline: Pipeline
    config: RunConfig
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AblationReport:
    """What came out.

    Attributes:
        ablation: every run on paper.
        names: of the passes, by id.
        failed: passes without which, or with which alone, the pipeline failed, and why.
        race: all passes against pipelines that lack one; None if none was asked for.
        raced: the pass that each variant of the race lacks, in order, the first lacks none.
        model: display name.
        model_hash: of the source file.
    """

    request: AblationRequest
    ablation: Ablation
    names: Mapping[str, PassName]
    failed: Mapping[str, str]
    race: Race | None
    raced: tuple[str, ...]
    model: str
    model_hash: str

    def slower_without(self, pass_id: str) -> Contrast | None:
        """How much faster all passes are than all but this one; None where it was not raced."""
        if self.race is None or pass_id not in self.raced:
            return None
        without = self.race.timings[self.raced.index(pass_id)]
        return self.race.contrast(self.race.timings[0].label, baseline=without.label)

    @property
    def finding(self) -> str:
        """The ablation in one line."""
        worth = self.ablation.worth("nodes")
        if not worth:
            return "No pass fired; there is nothing to leave out"
        most = worth[0]
        return (
            f"{self.names[most.pass_id].title} is missed most:"
            f" {'+' if most.missing > 0 else ''}{counted(most.missing, 'node')} without it"
        )

    def recording(self) -> Recording | None:
        """The experiment for the records; None without a race."""
        if self.race is None:
            return None
        steps = (self.ablation.full.steps, *[None] * (len(self.raced) - 1))
        return Recording(
            kind="worth",
            title=self.finding,
            model=self.model,
            model_hash=self.model_hash,
            machine=self.race.machine,
            started_at=self.race.started_at,
            seconds=self.race.seconds,
            measurements=rows(self.race, steps),
            payload=self._payload(self.race),
        )

    def _payload(self, race: Race) -> dict[str, Any]:
        return {
            "section": "ablation",
            "model": self.model,
            "model_hash": self.model_hash,
            "pipeline": self.request.pipeline.to_json(),
            "options": changed_options(self.request.config),
            "seconds": self.request.seconds,
            "full": asdict(self.ablation.full),
            "without": {key: asdict(found) for key, found in self.ablation.without.items()},
            "alone": {key: asdict(found) for key, found in self.ablation.alone.items()},
            "names": {key: asdict(name) for key, name in self.names.items()},
            "failed": dict(self.failed),
            "raced": list(self.raced),
            "race": RACE.to_json(race),
        }


def ablation_key(
    model: OpenedModel, run: OpenedRun, request: AblationRequest
) -> tuple[object, ...]:
    """Equal ablations have equal keys; without a race the options do not count."""
    options = tuple(sorted(request.config.changed().items())) if request.seconds else ()
    return ("worth-ablation", model.key, run.key, options, request.seconds)


def run_ablation(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: AblationRequest,
    *,
    keep: Keep,
    progress: Callable[[str, float], None],
    cancelled: Callable[[], bool],
    partial: Callable[[AblationReport], object] | None = None,
) -> AblationReport:
    """Run the pipeline without each pass that fired, and each of them alone; race the strongest.

    Raises:
        StudioError: the full run is gone, or a step cannot be written.
        Cancelled: if `cancelled` said so.
    """
    model, run = subject
    laboratory = _Laboratory(store, model, request, progress, cancelled)
    found = laboratory.on_paper(run)
    if partial is not None:
        partial(found)
    if request.seconds:
        found = laboratory.raced(found, run, pool)
    recording = found.recording()
    if recording is not None:
        keep(recording)
    return found


@dataclass(slots=True)
class _Laboratory:
    """What all runs of an ablation share."""

    store: Store
    model: OpenedModel
    request: AblationRequest
    progress: Callable[[str, float], None]
    cancelled: Callable[[], bool]

    def on_paper(self, run: OpenedRun) -> AblationReport:
        costs = trace_costs(self.store, self.model, run)
        pipelines: dict[tuple[str, str], Pipeline] = {}
        for pass_id in costs.fired:
            pipelines["without", pass_id] = without(self.request.pipeline, pass_id)
            pipelines["alone", pass_id] = alone(self.request.pipeline, pass_id)
        found: dict[str, dict[str, Outcome]] = {"without": {}, "alone": {}}
        failed: dict[str, str] = {}
        share = _PAPER_SHARE if self.request.seconds else 1.0
        for number, ((way, pass_id), pipeline) in enumerate(pipelines.items()):
            title = costs.names[pass_id].title
            self.progress(f"{way} {title}", share * number / len(pipelines))
            try:
                found[way][pass_id] = outcome(self._costs(pipeline))
            except Cancelled:
                raise
            except StudioError as error:
                failed[pass_id] = f"{way}: {error.message}"
        ablation = Ablation(outcome(costs), found["without"], found["alone"])
        return AblationReport(
            self.request, ablation, costs.names, failed, None, (),
            self.model.summary["name"], self.model.summary["digest"],
        )  # fmt: skip

    def _costs(self, pipeline: Pipeline) -> TraceCosts:
        run = self.store.run(self.model, pipeline, cancelled=self.cancelled)
        return trace_costs(self.store, self.model, run)

    def raced(self, found: AblationReport, run: OpenedRun, pool: WorkerPool) -> AblationReport:
        """The same with a race of all passes against those pipelines that differ most."""
        worth = found.ablation.worth("bytes")
        missed = sorted(worth, key=lambda w: -abs(w.missing))
        large = self.model.summary["weight_bytes"] > LARGE_BYTES
        ids = [w.pass_id for w in missed if w.missing or w.others][: 4 if large else MOST_RACED]
        variants = [self._variant(FULL, run)]
        for pass_id in ids:
            lacking = self.store.run(self.model, without(self.request.pipeline, pass_id))
            variants.append(self._variant(f"without {pass_id}", lacking))
        race = measure(
            variants,
            pool=pool,
            plan=RacePlan(runs=RUNS, seconds=self.request.seconds),
            progress=lambda text, part: self.progress(
                text, _PAPER_SHARE + (1 - _PAPER_SHARE) * part
            ),
            cancelled=self.cancelled,
        )
        return replace(found, race=race, raced=("", *ids))

    def _variant(self, label: str, run: OpenedRun) -> Variant:
        path = self.store.materialize(self.model, run, run.result.steps)
        return Variant(label, path, self.request.config)


def without(pipeline: Pipeline, pass_id: str) -> Pipeline:
    """All passes but one; the same name for the rest, so that equal runs are found again."""
    return replace(pipeline, passes=tuple(p for p in pipeline.passes if p.id != pass_id))


def alone(pipeline: Pipeline, pass_id: str) -> Pipeline:
    """One pass, with its options and all vetoes."""
    return replace(pipeline, passes=tuple(p for p in pipeline.passes if p.id == pass_id))


def outcome(costs: TraceCosts) -> Outcome:
    """A run as an ablation compares it."""
    return Outcome(costs.totals, costs.fired, len(costs.steps), costs.seconds)


def ablation_from_payload(payload: Mapping[str, Any]) -> AblationReport:
    """The report again."""
    runs = {way: {k: Outcome(**o) for k, o in payload[way].items()} for way in ("without", "alone")}
    request = AblationRequest(
        Pipeline.from_json(payload["pipeline"]),
        from_values(payload["options"]),
        payload["seconds"],
    )
    return AblationReport(
        request,
        Ablation(Outcome(**payload["full"]), runs["without"], runs["alone"]),
        {key: PassName(**name) for key, name in payload["names"].items()},
        payload["failed"],
        RACE.from_json(payload["race"]),
        tuple(payload["raced"]),
        payload["model"],
        payload["model_hash"],
    )
