"""What profiles found, in one line; and fewer runs that say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from profiling.timeline.balance import balance
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Phase, Profile

FEW = 3
"""Runs that `few_runs` leaves."""


def finding(profiles: Mapping[str, Profile], phase: Phase) -> str:
    """Operators and gaps, the first variant against the last."""
    runs = [run for run in (profile.run(phase) for profile in profiles.values()) if run is not None]
    if not runs:
        return "The profiler saw no runs"
    sums = [balance(run) for run in (runs[0], runs[-1])][: len(runs)]
    operators = " → ".join(_ms(one.operators_us) for one in sums)
    gaps = " → ".join(_ms(one.gaps_us) for one in sums)
    counts = " → ".join(f"{len(run.events):,}" for run in (runs[0], runs[-1])[: len(runs)])
    which = "First run" if phase == "first" else "Steady run"
    return f"{which}: {operators} ms in {counts} operators, {gaps} ms in gaps between them"


def few_runs(profile: Profile) -> Profile:
    """The first run, the steady one in the middle and the next slower one.

    The one in the middle stays the one in the middle.
    """
    runs, middle = profile.timeline.runs, profile.run_index("steady")
    if len(runs) <= FEW or middle is None:
        return profile
    later = sorted(range(1, len(runs)), key=lambda index: runs[index].duration_us)
    kept = sorted({0, middle, later[later.index(middle) + 1]})
    return replace(
        profile,
        timeline=replace(profile.timeline, runs=tuple(runs[index] for index in kept)),
        memory=_of(profile.memory, kept),
        device=_of(profile.device, kept),
    )


def _of(curves: Sequence[MemoryCurve], kept: Sequence[int]) -> tuple[MemoryCurve, ...]:
    return tuple(curves[index] for index in kept if index < len(curves))


def _ms(time_us: int) -> str:
    """Three significant digits without an exponent."""
    ms = time_us / 1000
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.3g}"
