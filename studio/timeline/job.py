"""Profiles of variants: what each operator takes, against the source's nodes it stands for."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from optimizer.errors import RunError
from profiling.machine import this_machine
from profiling.timeline.interleaved import profile_interleaved
from profiling.timeline.origins import Origins, origins_of
from profiling.timeline.profile import Profile
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.race.job import Keep, graphs_of
from studio.timeline.node_times import StepTimes, keep_times
from studio.timeline.result import Profiled, ProfileReport
from studio.variants.entrant import Entrant, entrant_key, run_of, step_of, variants_of

Report = Callable[[str, float], None]
Asked = Callable[[], bool]
Subject = tuple[OpenedModel, OpenedRun]

RUNS = 11
"""Of each variant: the first, and ten steady ones."""


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What to profile.

    Attributes:
        entrants: the baseline first.
        runs: of each, the first one included.
    """

    entrants: tuple[Entrant, ...]
    runs: int = RUNS


def run_profile(
    store: Store,
    pool: WorkerPool,
    subject: Subject,
    request: ProfileRequest,
    *,
    progress: Report,
    cancelled: Asked,
    keep: Keep | None = None,
) -> ProfileReport:
    """Profile every entrant; one that does not run leaves its reason.

    Raises:
        StudioError: an entrant's file cannot be written, or the work was cancelled.
    """
    started, began, machine = datetime.datetime.now(datetime.UTC), time.monotonic(), this_machine()
    progress("writing the models", 0.0)
    variants = variants_of(request.entrants, store, subject)
    runs = [run_of(entrant, store, subject) for entrant in request.entrants]
    families = _families(pool, subject[0], request.entrants, runs)
    made = profile_interleaved(
        variants, pool=pool, runs=request.runs, progress=progress, cancelled=cancelled
    )
    found = [
        _profiled(entrant, step_of(entrant, run), families[run.key], one)
        for entrant, run, one in zip(request.entrants, runs, made, strict=True)
    ]
    graphs = graphs_of(request.entrants, variants)
    found = [
        replace(one, workload=graph.workload) for one, graph in zip(found, graphs, strict=True)
    ]
    _keep(store, subject[0], runs, found)
    report = ProfileReport(
        subject[0].summary["name"],
        tuple(found),
        families[runs[0].key].source,
        machine,
        started.isoformat(timespec="seconds"),
        time.monotonic() - began,
        subject[0].summary["digest"],
        request.runs,
    )
    recording = None if keep is None else report.recording()
    if keep is None or recording is None:
        return report
    progress("keeping the profiles", 1.0)
    return replace(report, kept=keep(recording))


def profile_key(model: OpenedModel, run: OpenedRun, request: ProfileRequest) -> tuple[object, ...]:
    """Equal requests have equal keys: a reload finds its profile again."""
    entrants = tuple(map(entrant_key, request.entrants))
    return ("profile", model.key, run.key, entrants, request.runs)


def _families(
    pool: WorkerPool, model: OpenedModel, entrants: Sequence[Entrant], runs: Sequence[OpenedRun]
) -> dict[str, Origins]:
    found: dict[str, Origins] = {}
    for run in {run.key: run for run in runs}.values():
        steps = {step_of(e, run) for e, r in zip(entrants, runs, strict=True) if r.key == run.key}
        found[run.key] = pool(origins_of, run.files, tuple(sorted(steps)))
    return found


def _profiled(entrant: Entrant, step: int, family: Origins, made: Profile | RunError) -> Profiled:
    nodes = family.steps[step]
    if isinstance(made, RunError):
        return Profiled(entrant, step, None, nodes, made.message)
    return Profiled(entrant, step, made, nodes)


def _keep(
    store: Store, model: OpenedModel, runs: Sequence[OpenedRun], found: Sequence[Profiled]
) -> None:
    """Leave node times where the viewer finds them, with each run whose steps were profiled."""
    for run in {run.key: run for run in runs}.values():
        times = [
            StepTimes(
                one.step,
                one.label,
                tuple(one.kernels("first")),
                tuple(one.kernels("steady")),
                None if one.profile.profiler is None else one.profile.profiler.node_us,
            )
            for one, home in zip(found, runs, strict=True)
            if one.profile is not None and (home.key == run.key or one.step == 0)
        ]
        if times:
            keep_times(store, model, run, times)
