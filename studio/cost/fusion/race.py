"""A race of a chain against itself fused: by our passes, and by the runtime."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from optimizer.cost.device import DeviceProfile
from profiling.calibration import CALIBRATED
from profiling.config import RunConfig
from profiling.fleet.choice import executor
from profiling.racing.executor import RaceJob, race_of
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant
from profiling.records import Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.cost.fusion.fusion import Fusion
from studio.cost.fusion.job import AFTER, BEFORE, ChainRequest, Explained
from studio.numbers import times_text
from studio.race.job import Asked, Keep, Raced, RaceReport, Report, workload_of

AS_IT_IS = "as it is"
PASSES = "our passes"
RUNTIME = "the runtime's own"
CHAIN = "chain"
"""Stands where a variant's preset would: what ran is no step of the open trace."""

Subject = tuple[OpenedModel, OpenedRun]


@dataclass(frozen=True, slots=True)
class FusionRaced:
    """What came out.

    Attributes:
        fusion: what was predicted.
        device: what it was predicted for.
        report: of the race.
    """

    fusion: Fusion
    device: DeviceProfile
    report: RaceReport

    @property
    def here(self) -> bool:
        """Whether it was predicted for the machine that ran, from what was measured there."""
        return self.device.measured and self.device.name == self.report.races[0].machine.cpu

    @property
    def finding(self) -> str:
        """Measured, in one line, beside what was predicted for the machine that ran."""
        (race,) = self.report.races
        ran = [timing.label for timing in race.timings]
        told = [
            f"{label} {text}"
            for label in (PASSES, RUNTIME)
            if label in ran and (text := _measured(race, label))
        ]
        measured = f"{'; '.join(told)}; 95 % intervals" if told else "nothing to compare"
        if not self.fusion.fired:
            return f"No pass fuses this chain; measured: {measured}"
        if not self.here:
            return f"Measured: {measured}"
        return f"Predicted {times_text(self.fusion.speedup)}, measured: {measured}"

    def recording(self) -> Recording:
        """For the database: a race that says what it raced."""
        found = self.report.recording()
        return replace(found, title=f"{self.fusion.title}: {self.finding}")


def _measured(race: Race, label: str) -> str:
    found = race.contrast(label)
    if found is None:
        return ""
    interval = f"({found.low:.2f} to {found.high:.2f})"
    if found.verdict == "no_clear_difference":
        return f"{found.claim} {interval}"
    return f"{times_text(found.speedup)} {interval}"


def fusion_race_key(subject: Subject, request: ChainRequest, seconds: float) -> Hashable:
    """Equal races have equal keys, whatever device was predicted for."""
    model, run = subject
    return ("fusion-race", model.key, run.key, request, seconds)


def run_fusion_race(
    pool: WorkerPool,
    subject: Subject,
    explanation: Explained,
    *,
    device: DeviceProfile,
    seconds: float,
    progress: Report,
    cancelled: Asked,
    keep: Keep | None = None,
    partial: Callable[[Race], None] | None = None,
) -> FusionRaced:
    """Race the chain as it is, as our passes make it, and fused by the runtime.

    Args:
        pool: where they run, unless the environment names a cluster.
        subject: whose chain it is, for the records.
        explanation: what is predicted, and the files.
        device: what was predicted for.
        seconds: of steady running, all together.
        progress: told what is done, and which share.
        cancelled: asked often.
        keep: gets the recording when the race is over.
        partial: gets the race as far as it is known.

    Raises:
        StudioError: nothing runs.
    """
    variants = variants_of(explanation)
    job = RaceJob(tuple(variants), RacePlan(seconds=seconds))
    (outcome,) = executor(pool).run(
        [job],
        progress=progress,
        cancelled=cancelled,
        observe=None if partial is None else lambda _, race: partial(race),
    )
    graphs = tuple(Raced(0, CHAIN, workload_of(variant.model)) for variant in variants)
    summary = subject[0].summary
    report = RaceReport((race_of(outcome),), graphs, summary["name"], summary["digest"])
    found = FusionRaced(explanation.fusion, device, report)
    if keep is None:
        return found
    return replace(found, report=replace(report, kept=keep(found.recording())))


def variants_of(explanation: Explained) -> list[Variant]:
    """What takes part; our passes only where they changed something."""
    before, after = (explanation.folder.absolute() / name for name in (BEFORE, AFTER))
    variants = [Variant(AS_IT_IS, before, CALIBRATED)]
    if explanation.fusion.fired:
        variants.append(Variant(PASSES, after, CALIBRATED))
    extended = RunConfig(
        graph_optimization="extended",
        intra_threads=CALIBRATED.intra_threads,
        denormals_as_zero=CALIBRATED.denormals_as_zero,
    )
    return [*variants, Variant(RUNTIME, before, extended)]
