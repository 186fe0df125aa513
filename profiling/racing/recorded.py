"""Races and sweeps as recordings: flat rows to filter by, a finding as the title, all the data."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.errors import StudioError, quoted
from profiling.racing.race import Race, Timing
from profiling.racing.race_json import race_to_json
from profiling.racing.sweep import Sweep, sweep_to_json
from profiling.records.recording import Measurement, Recording


def measurements_of(
    race: Race, *, workloads: Mapping[str, str], at: str = ""
) -> tuple[Measurement, ...]:
    """One row a variant.

    Args:
        race: what was measured.
        workloads: SHA-256 of each variant's file, by label, as far as it is known.
        at: added to the labels, for example a size.
    """
    return tuple(_measurement(race, timing, workloads, at) for timing in race.timings)


def finding(race: Race) -> str:
    """The most that can be said, in one line: who is fastest among those that computed right."""
    baseline = race.baseline
    rivals = [timing for timing in race.timings if timing is not baseline and timing.believable]
    found = [(race.contrast(timing.label), timing) for timing in rivals]
    clear = [
        (contrast.speedup, timing.label, str(contrast))
        for contrast, timing in found
        if contrast is not None and contrast.verdict != "no_clear_difference"
    ]
    if not baseline.blocks_ms:
        return "Nothing could be measured"
    if not rivals:
        return f"{baseline.label}: {_median(baseline)}"
    if not clear:
        return f"No clear difference from {baseline.label}"
    speedup, label, text = max(clear)
    if speedup < 1:  # nobody is faster: the one that lost most
        _, label, text = min(clear)
    return f"{label} is {text.partition(',')[0]} than {baseline.label}"


def race_recording(
    race: Race, *, model: str, model_hash: str, workloads: Mapping[str, str]
) -> Recording:
    """A race as it is kept; its payload is `race_to_json`."""
    return Recording(
        kind="race",
        title=finding(race),
        model=model,
        model_hash=model_hash,
        machine=race.machine,
        started_at=race.started_at,
        seconds=race.seconds,
        measurements=measurements_of(race, workloads=workloads),
        payload=race_to_json(race),
    )


def sweep_recording(
    found: Sweep, *, model: str, model_hash: str, workloads: Mapping[str, str]
) -> Recording:
    """A sweep as it is kept; its payload is `sweep_to_json`.

    Raises:
        StudioError: there is no race at any size, so nothing to keep.
    """
    races = [(point.size, point.race) for point in found.points if point.race is not None]
    if not races:
        raise StudioError(f"Nothing could be measured at any {quoted(found.dimension)}.")
    rows = [
        measurements_of(race, workloads=workloads, at=f", {found.dimension} {size}")
        for size, race in races
    ]
    return Recording(
        kind="sweep",
        title=_sweep_finding(found),
        model=model,
        model_hash=model_hash,
        machine=races[0][1].machine,
        started_at=races[0][1].started_at,
        seconds=sum(race.seconds for _, race in races),
        measurements=tuple(row for group in rows for row in group),
        payload=sweep_to_json(found),
    )


def _sweep_finding(found: Sweep) -> str:
    rates = [
        (rate, point.size, label)
        for point in found.points
        for label in found.labels
        if (rate := point.throughput(label)) is not None
    ]
    if not rates:
        return f"Nothing could be measured over {found.dimension}"
    rate, size, label = max(rates)
    return f"{label} does most at {found.dimension} {size}: {rate:.3g} a second"


def _measurement(race: Race, timing: Timing, workloads: Mapping[str, str], at: str) -> Measurement:
    summary, phases = timing.summary, timing.phases
    return Measurement(
        label=timing.label + at,
        workload=workloads.get(timing.label, ""),
        options=timing.config.changed(),
        p50_ms=None if summary is None else summary.p50_ms,
        p95_ms=None if summary is None else summary.p95_ms,
        min_ms=None if summary is None else summary.min_ms,
        first_ms=phases.first_ms if phases is not None and phases.first_ms else None,
        create_ms=phases.create_ms if phases is not None and phases.create_ms else None,
        runs=len(timing.latencies_ms),
        peak_bytes=timing.peak_bytes,
        error=timing.error,
        verdict=race.verdict(timing.label),
    )


def _median(timing: Timing) -> str:
    summary = timing.summary
    return "no times" if summary is None else f"{summary.p50_ms:.3g} ms"
