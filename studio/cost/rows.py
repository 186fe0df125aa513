"""What the three experiments on worth have in common for the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profiling.config import RunConfig, Value
from profiling.racing.race import Race, Timing
from profiling.records.recording import Measurement


def changed_options(config: RunConfig) -> dict[str, Value]:
    """Options that are not at their default, in one order."""
    return dict(sorted(config.changed().items()))


def rows(race: Race, steps: Sequence[int | None]) -> tuple[Measurement, ...]:
    """A row for each variant of a race.

    Args:
        race: any.
        steps: of the open trace, one for each variant; None where it is another trace's.
    """
    return tuple(_row(race, timing, step) for timing, step in zip(race.timings, steps, strict=True))


def _row(race: Race, timing: Timing, step: int | None) -> Measurement:
    row = Measurement(
        timing.label,
        step=step,
        options=changed_options(timing.config),
        runs=len(timing.latencies_ms),
        peak_bytes=timing.peak_bytes,
        error=timing.error,
        verdict=race.verdict(timing.label),
    )
    if timing.phases is not None:
        row = replace(row, first_ms=timing.phases.first_ms, create_ms=timing.phases.create_ms)
    if timing.summary is not None:
        summary = timing.summary
        row = replace(row, p50_ms=summary.p50_ms, p95_ms=summary.p95_ms, min_ms=summary.min_ms)
    return row
