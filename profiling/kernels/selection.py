"""One race a workload: all its candidates in turns, outputs compared first, then ranked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from optimizer.codec import Format, Json
from optimizer.errors import Cancelled, StudioError
from optimizer.findings import Status
from optimizer.isolation import Progress, part_of, silent
from optimizer.verify import Comparison, Tolerance
from profiling.config import Group, RunConfig
from profiling.kernels.candidates import Candidate, candidates
from profiling.kernels.hotspots import TOP, Hotspot, Hotspots, find_hotspots
from profiling.kernels.reformulations import loosest
from profiling.kernels.rewriting import Written, written_alone
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast
from profiling.workers import WorkerPool

LEAST_SECONDS = 2.0
"""Steady running of one race: ten candidates get no interval worth showing in less."""

_SEARCHING = 0.1
"""Share of the progress that the profile takes."""


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate of a workload and what it came to.

    Attributes:
        p50_ms: median latency; None where it was not measured.
        contrast: against the baseline; None for the baseline itself, and where there is no time.
        wrong: why its result is not within its tolerance; empty if it is.
        scaled: largest difference from the file as it stands, relative to the result's scale.
        verdict: one sentence.
    """

    candidate: Candidate
    p50_ms: float | None
    contrast: Contrast | None
    wrong: str
    scaled: float | None
    verdict: str

    @property
    def believable(self) -> bool:
        """Whether there is a time and the result is right."""
        return self.p50_ms is not None and not self.wrong

    @property
    def speedup(self) -> float:
        """Of what may be claimed: 1 where nothing may be."""
        if self.contrast is None or not self.believable:
            return 1.0
        return 1.0 if self.contrast.verdict == "no_clear_difference" else self.contrast.speedup


@dataclass(frozen=True, slots=True)
class WorkloadRace:
    """A workload, its candidates, and their race.

    Attributes:
        operator: the workload and where it occurs; without its model once all races are over.
        candidates: all that were thought of, the baseline first.
        race: None where it could not be run.
        error: why not.
    """

    operator: Hotspot
    candidates: tuple[Candidate, ...]
    race: Race | None
    error: str = ""

    def rows(self) -> tuple[CandidateRow, ...]:
        """All candidates: measured ones by speedup, wrong ones, those that were not measured."""
        return tuple(sorted((self.row(one.label) for one in self.candidates), key=_rank))

    def winner(self, *, lossy: bool = False) -> CandidateRow:
        """The candidate to take: surely faster, by the lower end of its interval; else as it is."""
        sure = [
            (row.contrast.low, row)
            for row in self.rows()
            if row.believable
            and row.contrast is not None
            and row.contrast.verdict == "faster"
            and (lossy or not row.candidate.lossy)
        ]
        baseline = 1.0, self.row(self.candidates[0].label)
        return max(sure, key=lambda one: one[0], default=baseline)[1]

    def row(self, label: str) -> CandidateRow:
        """The candidate of this label."""
        candidate = next(one for one in self.candidates if one.label == label)
        timings = () if self.race is None else self.race.timings
        timing = next((timing for timing in timings if timing.label == label), None)
        if timing is None:
            reason = candidate.unavailable or self.error or "the race ended before"
            return CandidateRow(candidate, None, None, "", None, f"not measured: {reason}")
        if timing.error or timing.summary is None or self.race is None:
            reason = timing.error or "no runs"
            return CandidateRow(candidate, None, None, "", None, f"not measured: {reason}")
        wrong = _wrong(timing.outputs, candidate.tolerance)
        scaled = max((output.scaled for output in timing.outputs), default=None)
        p50_ms = timing.summary.p50_ms
        if candidate is self.candidates[0]:
            return CandidateRow(candidate, p50_ms, None, wrong, scaled, "the baseline")
        contrast = self.race.contrast(candidate.label, baseline=self.candidates[0].label)
        verdict = str(contrast) if contrast is not None else "the baseline has no times"
        if wrong:
            verdict = f"wrong result, so its time does not count: {wrong}"
        return CandidateRow(candidate, p50_ms, contrast, wrong, scaled, verdict)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is known about a variant's kernels.

    Attributes:
        config: the options that the variant runs with, which are everybody's baseline.
        hotspots: all its workloads.
        races: of the heaviest.
    """

    config: RunConfig
    hotspots: Hotspots
    races: tuple[WorkloadRace, ...]


def _of_version_1(document: Json) -> Json:
    """There races named their workloads, and the hot operators stood beside them."""
    hot = {name: document[name] for name in ("source", "total_us", "operators", "remark")}
    operators = {one["workload"]["key"]: one for one in document["operators"]}
    races = [{**race, "operator": operators[race["workload"]]} for race in document["races"]]
    hot["profiler"] = document.get("profiler")
    return {"options": document["options"], "hotspots": hot, "races": races}


SELECTION = Format(
    Selection,
    "passlens.kernels/2",
    "recording of kernels",
    names={"config": "options"},
    older={"passlens.kernels/1": _of_version_1},
)


def select(
    variant: Variant,
    *,
    pool: WorkerPool,
    groups: Mapping[Group, Status],
    seconds: float = 20.0,
    top: int = TOP,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    observe: Callable[[Selection], None] | None = None,
) -> Selection:
    """Find the variant's hot operators and race the candidates of each.

    Args:
        variant: the model and how it is run now.
        pool: where it runs.
        groups: which options count here.
        seconds: of steady running, for all races together; a race gets two at least.
        top: workloads to race.
        progress: told what is being done.
        cancelled: asked whether to stop.
        observe: told what is known after each race.

    Raises:
        StudioError: the model cannot be read.
        Cancelled: if `cancelled` said so.
    """
    report = progress or silent
    isolate = pool if variant.config.device == "cpu" else pool.run_fresh
    hot = find_hotspots(
        variant, isolate=isolate, top=top, cancelled=cancelled,
        progress=lambda text, fraction: report(text, _SEARCHING * fraction),
    )  # fmt: skip
    chosen = [operator for operator in hot.operators if operator.model]
    found = Selection(variant.config, hot, ())

    def racing(text: str, fraction: float) -> None:
        report(text, _SEARCHING + (1 - _SEARCHING) * fraction)

    for number, operator in enumerate(chosen):
        before = f"{number + 1} of {len(chosen)}, {operator.workload.title}: "
        raced = race_workload(
            operator, variant.config, pool=pool, groups=groups,
            seconds=max(LEAST_SECONDS, seconds / len(chosen)),
            **part_of({"progress": racing, "cancelled": cancelled}, before, number, of=len(chosen)),
        )  # fmt: skip
        found = replace(found, races=(*found.races, raced))
        if observe is not None:
            observe(found)
    return _without_models(found)


def race_workload(
    operator: Hotspot,
    base: RunConfig,
    *,
    pool: WorkerPool,
    groups: Mapping[Group, Status],
    seconds: float,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> WorkloadRace:
    """Race the candidates of one workload.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    offered = candidates(operator.workload, base, groups)
    try:
        offered, models = _written(operator, offered, base, pool, cancelled)
        variants = [
            Variant(candidate.label, models[candidate.reformulation], candidate.config(base))
            for candidate in offered
            if not candidate.unavailable
        ]
        # Each is held to its own tolerance afterwards.
        raced_within = loosest(c.tolerance for c in offered if not c.unavailable)
        race = measure(
            variants,
            pool=pool,
            # Alone, a workload's copies to a GPU would take longer than its kernel.
            plan=RacePlan(seconds=seconds, tolerance=raced_within, transfers=base.device == "cpu"),
            progress=progress,
            cancelled=cancelled,
        )
    except Cancelled:
        raise
    except StudioError as error:
        return WorkloadRace(operator, offered, None, error.message)
    return WorkloadRace(operator, offered, race)


def _without_models(selection: Selection) -> Selection:
    """The same without the extracted files: results are kept for long, and weights are large."""
    operators = tuple(replace(operator, model=b"") for operator in selection.hotspots.operators)
    races = tuple(
        replace(race, operator=replace(race.operator, model=b"")) for race in selection.races
    )
    return replace(
        selection, hotspots=replace(selection.hotspots, operators=operators), races=races
    )


def _written(
    operator: Hotspot,
    offered: Sequence[Candidate],
    base: RunConfig,
    pool: WorkerPool,
    cancelled: Callable[[], bool] | None,
) -> tuple[tuple[Candidate, ...], dict[str, bytes]]:
    """The candidates that fit this workload, and their models by reformulation."""
    wanted = {c.reformulation for c in offered if c.reformulation and not c.unavailable}
    written: dict[str, Written] = {}
    if wanted:
        written = pool(
            written_alone, operator.model, base, sorted(wanted),
            cancelled=cancelled,
        )  # fmt: skip
    kept: list[Candidate] = []
    models = {"": operator.model}
    for candidate in offered:
        found = written.get(candidate.reformulation)
        if found is None:
            kept.append(candidate)
        elif found.model:
            models[candidate.reformulation] = found.model
            missing = candidate.unavailable or found.missing
            kept.append(replace(candidate, unavailable=missing))
    return tuple(kept), models


def _wrong(outputs: Sequence[Comparison], tolerance: Tolerance) -> str:
    for output in outputs:
        if not output.ok:
            return output.reason
        if output.max_abs > tolerance.atol + tolerance.rtol * output.scale:
            return f"off by {output.max_abs:.3g} where the result reaches {output.scale:.3g}"
    return ""


def _rank(row: CandidateRow) -> tuple[bool, bool, float]:
    # The paired estimate, not the median: what slowed the machine down for all does not count.
    estimate = 1.0 if row.contrast is None else row.contrast.speedup
    return row.p50_ms is None, bool(row.wrong), -estimate
