"""A race between variants: which one is faster, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from profiling.racing.measure import Plan, measure
from profiling.racing.race import Race
from profiling.workers import WorkerPool
from studio.experiments.entrant import Entrant, entrant_key, variants_of
from studio.store import OpenedModel, OpenedRun, Store

Report = Callable[[str, float], None]
Asked = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class RaceRequest:
    """What to race.

    Attributes:
        entrants: the baseline first.
        seconds: for the steady state of all.
        runs: steady runs of each, if they fit into `seconds`.
    """

    entrants: tuple[Entrant, ...]
    seconds: float = 20.0
    runs: int = 100_000


@dataclass(frozen=True, slots=True)
class RaceReport:
    """What came out.

    Attributes:
        race: phases, latencies, verdict.
        model: display name.
    """

    request: RaceRequest
    race: Race
    model: str


def run_race(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: RaceRequest,
    *,
    progress: Report,
    cancelled: Asked,
) -> RaceReport:
    """Write the entrants' files and race them.

    Raises:
        StudioError: a file cannot be written, or the baseline does not run.
    """
    progress("writing the models", 0.0)
    race = measure(
        variants_of(request.entrants, store, subject),
        pool=pool,
        plan=Plan(runs=request.runs, seconds=request.seconds),
        progress=progress,
        cancelled=cancelled,
    )
    return RaceReport(request, race, subject[0].summary["name"])


def race_key(model: OpenedModel, run: OpenedRun, request: RaceRequest) -> tuple[object, ...]:
    """Equal races have equal keys: a reload finds its race again."""
    entrants = tuple(map(entrant_key, request.entrants))
    return ("race", model.key, run.key, entrants, request.runs, request.seconds)
