"""Races of kernels as flat rows, for the database."""

from __future__ import annotations

from dataclasses import replace

from profiling.config import Value
from profiling.kernels.selection import Selection, WorkloadRace
from profiling.kernels.whole import Confirmation
from profiling.racing.race import Race, Timing
from profiling.records import Measurement


def measurements(selection: Selection, confirmation: Confirmation | None) -> list[Measurement]:
    """The whole model first where it was raced, then every candidate of every operator."""
    found: list[Measurement] = []
    if confirmation is not None:
        race = confirmation.race
        found += [_measured(race, t, f"whole model, {t.label}", "") for t in race.timings]
    for raced in selection.races:
        found += _of_workload(raced)
    return found


def _of_workload(raced: WorkloadRace) -> list[Measurement]:
    title, key = raced.operator.workload.title, raced.operator.workload.key
    timings = {} if raced.race is None else {t.label: t for t in raced.race.timings}
    found: list[Measurement] = []
    for candidate in raced.candidates:
        timing = timings.get(candidate.label)
        label = f"{title}: {candidate.label}"
        row = raced.row(candidate.label)
        if timing is not None and raced.race is not None:
            measured = _measured(raced.race, timing, label, key)
            found.append(replace(measured, verdict=row.verdict, error=timing.error or row.wrong))
        elif candidate.unavailable and candidate.target == "cpu":
            changes: dict[str, Value] = dict(candidate.changes)
            found.append(Measurement(label, key, options=changes, error=row.verdict))
    return found


def _measured(race: Race, timing: Timing, label: str, workload: str) -> Measurement:
    summary, phases = timing.summary, timing.phases
    return Measurement(
        label,
        workload,
        options=timing.config.changed(),
        p50_ms=None if summary is None else summary.p50_ms,
        p95_ms=None if summary is None else summary.p95_ms,
        min_ms=None if summary is None else summary.min_ms,
        first_ms=None if phases is None else phases.first_ms,
        create_ms=None if phases is None else phases.create_ms,
        runs=len(timing.latencies_ms),
        peak_bytes=timing.peak_bytes,
        error=timing.error,
        verdict=race.verdict(timing.label),
    )
