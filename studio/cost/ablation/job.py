"""Leave one pass out: the pipeline without each pass, on paper and, if asked for, in a race."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from optimizer.codec import written_as
from optimizer.errors import Cancelled, StudioError
from optimizer.numbers import counted
from optimizer.pipeline import Pipeline
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast
from profiling.records import Measurement
from profiling.worth.ablation import Ablation, PipelineRun
from profiling.worth.measured import RUNS
from studio.artifacts.opened import OpenedRun
from studio.cost.trace_costs import PassName, TraceCosts, trace_costs
from studio.cost.worth import WorthRequest, is_large, worth_experiment
from studio.experiment import Equipment, OfRaces, measurement

MOST_RACED, MOST_LARGE = 7, 4
FULL = "all passes"
_PAPER_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class AblationRequest(WorthRequest):
    """What to leave out, of all these passes, and whether to race it."""

    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class AblationReport(OfRaces):
    """What came out.

    Attributes:
        ablation: every run on paper.
        names: of the passes, by id.
        failed: passes without which, or with which alone, the pipeline failed, and why.
        race: all passes against pipelines that lack one; None if none was asked for.
        raced: the pass that each variant of the race lacks, in order, the first lacks none.
    """

    request: AblationRequest
    ablation: Ablation
    names: Mapping[str, PassName]
    failed: Mapping[str, str]
    race: Race | None
    raced: tuple[str, ...]

    def all_races(self) -> tuple[Race, ...]:
        """The one race, if there was one."""
        return () if self.race is None else (self.race,)

    def measurements(self) -> list[Measurement]:
        """A row for each pipeline that was raced; its step, where it is one of the open trace."""
        return [
            measurement(race, timing, step=None if lacking else self.ablation.full.steps)
            for race in self.all_races()
            for timing, lacking in zip(race.timings, self.raced, strict=True)
        ]

    def slower_without(self, pass_id: str) -> Contrast | None:
        """How much faster all passes are than all but this one; None where it was not raced."""
        if self.race is None or pass_id not in self.raced:
            return None
        without = self.race.timings[self.raced.index(pass_id)]
        return self.race.contrast(self.race.timings[0].label, baseline=without.label)

    @property
    def title(self) -> str:
        """The ablation in one line."""
        worth = self.ablation.worth("nodes")
        if not worth:
            return "No pass fired; there is nothing to leave out"
        most = worth[0]
        return (
            f"{self.names[most.pass_id].title} is missed most:"
            f" {'+' if most.missing > 0 else ''}{counted(most.missing, 'node')} without it"
        )


def run_ablation(bench: Equipment, request: AblationRequest) -> AblationReport:
    """Run the pipeline without each pass that fired, and each of them alone; race the strongest.

    Raises:
        StudioError: the full run is gone, or a step cannot be written.
        Cancelled: if `cancelled` said so.
    """
    found = _on_paper(bench, request)
    bench.partial(found)
    return _with_race(found, bench) if request.seconds else found


def _on_paper(bench: Equipment, request: AblationRequest) -> AblationReport:
    costs = trace_costs(bench.store, *bench.subject)
    found: dict[str, dict[str, PipelineRun]] = {"without": {}, "alone": {}}
    failed: dict[str, str] = {}
    share = (_PAPER_SHARE if request.seconds else 1.0) / (2 * len(costs.fired) or 1)
    for number, (pass_id, way) in enumerate(product(costs.fired, found)):
        pipeline = (without if way == "without" else alone)(request.pipeline, pass_id)
        bench.progress(f"{way} {costs.names[pass_id].title}", share * number)
        try:
            run = bench.store.run(bench.model, pipeline, cancelled=bench.cancelled)
            found[way][pass_id] = outcome(trace_costs(bench.store, bench.model, run))
        except Cancelled:
            raise
        except StudioError as error:
            failed[pass_id] = f"{way}: {error.message}"
    ablation = Ablation(outcome(costs), found["without"], found["alone"])
    return AblationReport(*bench.source, request, ablation, costs.names, failed, None, ())


def _with_race(found: AblationReport, bench: Equipment) -> AblationReport:
    """The same with a race of all passes against those pipelines that differ most."""
    request = found.request
    missed = sorted(found.ablation.worth("bytes"), key=lambda w: -abs(w.missing))
    most = MOST_LARGE if is_large(bench) else MOST_RACED
    ids = [w.pass_id for w in missed if w.missing or w.others][:most]
    runs = {FULL: bench.run}
    for pass_id in ids:
        pipeline = without(request.pipeline, pass_id)
        runs[f"without {pass_id}"] = bench.store.run(bench.model, pipeline)

    def variant(label: str, run: OpenedRun) -> Variant:
        path = bench.store.materialize(bench.model, run, run.result.steps)
        return Variant(label, path, request.config)

    race = measure(
        [variant(label, run) for label, run in runs.items()],
        pool=bench.pool,
        plan=RacePlan(runs=RUNS, seconds=request.seconds),
        progress=lambda text, part: bench.progress(text, _PAPER_SHARE + (1 - _PAPER_SHARE) * part),
        cancelled=bench.cancelled,
    )
    return replace(found, race=race, raced=("", *ids))


def without(pipeline: Pipeline, pass_id: str) -> Pipeline:
    """All passes but one; the same name for the rest, so that equal runs are found again."""
    return replace(pipeline, passes=tuple(p for p in pipeline.passes if p.id != pass_id))


def alone(pipeline: Pipeline, pass_id: str) -> Pipeline:
    """One pass, with its options and all vetoes."""
    return replace(pipeline, passes=tuple(p for p in pipeline.passes if p.id == pass_id))


def outcome(costs: TraceCosts) -> PipelineRun:
    """A run as an ablation compares it."""
    return PipelineRun(costs.totals, costs.fired, len(costs.steps), costs.seconds)


written_as(Pipeline, Pipeline.to_json, Pipeline.from_json)
ABLATION_EXPERIMENT = worth_experiment("ablation", run_ablation, AblationReport)
