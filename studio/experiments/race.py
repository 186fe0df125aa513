"""A race between two steps of a trace: latencies, time by operator, memory over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.errors import RunError
from profiling.config import RunConfig
from profiling.racing.measure import Plan, measure
from profiling.racing.race import Race, Variant
from profiling.timeline.profile import Profile, profile
from profiling.workers import WorkerPool
from studio.store import OpenedModel, OpenedRun, Store

Report = Callable[[str, float], None]
Asked = Callable[[], bool]
_PROFILED_RUNS = 5


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """What to race.

    Attributes:
        steps: the baseline first.
        config: how both are run.
        runs: steady runs of each, if they fit into `seconds`.
        seconds: for the steady state of both.
    """

    steps: tuple[int, int]
    config: RunConfig
    runs: int = 200
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class RaceReport:
    """What came out.

    Attributes:
        race: phases, latencies, verdict.
        profiles: by label; missing where the profiler could not run.
        model: display name.
    """

    request: RaceRequest
    race: Race
    profiles: dict[str, Profile]
    model: str


def label_of(step: int, *, last: int) -> str:
    """What a step is called in a race."""
    return "source" if step == 0 else f"step {step}" + (" (optimized)" if step == last else "")


def run_race(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: RaceRequest,
    *,
    progress: Report,
    cancelled: Asked,
) -> RaceReport:
    """Write both steps, race them, profile each.

    Raises:
        StudioError: a step cannot be written, or the baseline does not run.
    """
    model, run = subject
    last = run.result["steps"]
    files = {label_of(s, last=last): store.materialize(model, run, s) for s in request.steps}
    variants = [Variant(label, path, request.config) for label, path in files.items()]
    race = measure(
        variants,
        pool=pool,
        plan=Plan(runs=request.runs, seconds=request.seconds),
        progress=lambda text, fraction: progress(text, 0.9 * fraction),
        cancelled=cancelled,
    )
    profiles: dict[str, Profile] = {}
    for timing, variant in zip(race.timings, variants, strict=True):
        if timing.error:
            continue
        progress(f"{variant.label}: where the time goes", 0.95)
        found = _profile(variant, pool, cancelled)
        if found is not None:
            profiles[variant.label] = found
    return RaceReport(request, race, profiles, model.summary["name"])


def _profile(variant: Variant, pool: WorkerPool, cancelled: Asked) -> Profile | None:
    isolate = pool if variant.config.device == "cpu" else pool.run_fresh
    try:
        return profile(variant, isolate=isolate, runs=_PROFILED_RUNS, cancelled=cancelled)
    except RunError:
        return None  # the latencies stand without it


def race_key(model: OpenedModel, run: OpenedRun, request: RaceRequest) -> tuple[object, ...]:
    """Equal races have equal keys: a reload finds its race again."""
    changed = tuple(sorted(request.config.changed().items()))
    return ("race", model.key, run.key, request.steps, changed, request.runs, request.seconds)
