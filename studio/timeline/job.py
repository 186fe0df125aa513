"""Profiles of variants: what each operator takes, against the source's nodes it stands for."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.errors import RunError
from profiling.machine import this_machine
from profiling.timeline.interleaved import profile_interleaved
from profiling.timeline.origins import Origins, origins_of
from profiling.timeline.profile import Profile
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedRun
from studio.experiment import Equipment, Experiment
from studio.race.job import graphs_of
from studio.timeline.node_times import MeasuredKernel, StepTimes, Times, keep_times
from studio.timeline.result import PROFILE_REPORT, Profiled, ProfileReport, with_few_runs
from studio.variants.variant import TraceVariant, materialized, run_of, step_of

RUNS = 11
"""Of each variant: the first, and ten steady ones."""


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What to profile.

    Attributes:
        variants: the baseline first.
        runs: of each, the first one included.
    """

    variants: tuple[TraceVariant, ...]
    runs: int = RUNS


def run_profile(bench: Equipment, request: ProfileRequest) -> ProfileReport:
    """Profile every variant; one that does not run leaves its reason.

    Raises:
        StudioError: a variant's file cannot be written, or the work was cancelled.
    """
    started, began, machine = datetime.datetime.now(datetime.UTC), time.monotonic(), this_machine()
    bench.progress("writing the models", 0.0)
    variants = materialized(request.variants, bench.store, bench.subject)
    runs = [run_of(variant, bench.store, bench.subject) for variant in request.variants]
    families = _families(bench.pool, request.variants, runs)
    made = profile_interleaved(
        variants,
        pool=bench.pool,
        runs=request.runs,
        progress=bench.progress,
        cancelled=bench.cancelled,
    )
    graphs = graphs_of(request.variants, variants)
    found = [
        _profiled(variant, step_of(variant, run), families[run.key], one, graph.workload)
        for variant, run, one, graph in zip(request.variants, runs, made, graphs, strict=True)
    ]
    _keep(runs, found)
    return ProfileReport(
        *bench.source,
        machine,
        started.isoformat(timespec="seconds"),
        time.monotonic() - began,
        tuple(found),
        families[runs[0].key].source,
        request.runs,
    )


PROFILE_EXPERIMENT = Experiment(
    "profile", "profile", run_profile, PROFILE_REPORT, shortened=with_few_runs
)


def _families(
    pool: WorkerPool, variants: Sequence[TraceVariant], runs: Sequence[OpenedRun]
) -> dict[str, Origins]:
    found: dict[str, Origins] = {}
    for run in {run.key: run for run in runs}.values():
        steps = {step_of(e, run) for e, r in zip(variants, runs, strict=True) if r.key == run.key}
        found[run.key] = pool(origins_of, run.files, tuple(sorted(steps)))
    return found


def _profiled(
    variant: TraceVariant, step: int, family: Origins, made: Profile | RunError, workload: str
) -> Profiled:
    profile, error = (None, made.message) if isinstance(made, RunError) else (made, "")
    return Profiled(variant, step, profile, family.steps[step], error, workload)


def _keep(runs: Sequence[OpenedRun], found: Sequence[Profiled]) -> None:
    """Leave node times where the viewer finds them, with each run whose steps were profiled."""
    for run in {run.key: run for run in runs}.values():
        times = tuple(
            _times(one, one.profile)
            for one, home in zip(found, runs, strict=True)
            if one.profile is not None and (home.key == run.key or one.step == 0)
        )
        if times:
            keep_times(run, Times(times))


def _times(one: Profiled, profile: Profile) -> StepTimes:
    first = {kernel.name: kernel.time_us for kernel in one.kernels("first")}
    kernels = tuple(
        MeasuredKernel(first.get(kernel.name, 0.0), kernel.time_us, kernel.op_type, kernel.nodes)
        for kernel in one.kernels("steady")
    )
    taken_us = None if profile.profiler is None else profile.profiler.node_us
    return StepTimes(one.step, one.label, kernels, taken_us)
