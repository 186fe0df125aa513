"""A race of a chain against itself fused: by our passes, and by the runtime."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.cost.device import DeviceProfile
from optimizer.numbers import times_text
from profiling.calibration import CALIBRATED
from profiling.config import RunConfig
from profiling.fleet.ray_cluster import executor
from profiling.racing.executor import RaceJob, race_of
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant
from studio.cost.fusion.fusion import Fusion
from studio.cost.fusion.job import AFTER, BEFORE, ChainRequest, Explained
from studio.experiment import Equipment, Experiment
from studio.race.job import RACE_EXPERIMENT, RacedGraph, RaceReport, workload_of

AS_IT_IS = "as it is"
PASSES = "our passes"
RUNTIME = "the runtime's own"
CHAIN = "chain"
"""Stands where a variant's preset would: what ran is no step of the open trace."""


@dataclass(frozen=True, slots=True)
class FusionRaceRequest:
    """What to race.

    Attributes:
        chain: which.
        explained: what is predicted of it, and its files.
        device: what it was predicted for.
        seconds: of steady running, all together.
    """

    chain: ChainRequest
    explained: Explained
    device: DeviceProfile
    seconds: float


def fusion_finding(race: Race, fusion: Fusion, device: DeviceProfile) -> str:
    """Measured, in one line, beside what was predicted if that was for the machine that ran."""
    ran = [timing.label for timing in race.timings]
    told = [
        f"{label} {text}"
        for label in (PASSES, RUNTIME)
        if label in ran and (text := _measured(race, label))
    ]
    measured = f"{'; '.join(told)}; 95 % intervals" if told else "nothing to compare"
    if not fusion.fired:
        return f"No pass fuses this chain; measured: {measured}"
    if not (device.measured and device.name == race.machine.cpu):
        return f"Measured: {measured}"
    return f"Predicted {times_text(fusion.speedup)}, measured: {measured}"


def _measured(race: Race, label: str) -> str:
    found = race.contrast(label)
    if found is None:
        return ""
    interval = f"({found.low:.2f} to {found.high:.2f})"
    if found.verdict == "no_clear_difference":
        return f"{found.claim} {interval}"
    return f"{times_text(found.speedup)} {interval}"


def run_fusion_race(bench: Equipment, request: FusionRaceRequest) -> RaceReport:
    """Race the chain as it is, as our passes make it, and fused by the runtime.

    Raises:
        StudioError: nothing runs.
    """
    variants = variants_of(request.explained)
    (outcome,) = executor(bench.pool).run(
        [RaceJob(tuple(variants), RacePlan(seconds=request.seconds))],
        **bench.following,
        observe=lambda _, race: bench.partial((race,)),
    )
    race, fusion = race_of(outcome), request.explained.fusion
    graphs = tuple(RacedGraph(0, CHAIN, workload_of(variant.model)) for variant in variants)
    headline = f"{fusion.title}: {fusion_finding(race, fusion, request.device)}"
    return RaceReport(*bench.source, (race,), graphs, headline)


FUSION_EXPERIMENT = Experiment(
    "fusion race",
    "race",
    run_fusion_race,
    RACE_EXPERIMENT.form,
    relevant=lambda request: (request.chain, request.seconds),
)


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
