"""What profiles found and what was taken off, in a line each; and fewer runs that say the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from optimizer.numbers import three_digits
from profiling.timeline.balance import balance
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Phase, Profile
from profiling.timeline.profiler_cost import ProfilerCost
from profiling.timeline.stretches import typical

FEW = 2
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
    """The first run, and all later ones as the one that stands for them."""
    runs, middle = profile.timeline.runs, profile.run_index("steady")
    if len(runs) <= FEW or middle is None:
        return profile
    return replace(
        profile,
        timeline=replace(profile.timeline, runs=(runs[0], typical(runs[1:]))),
        memory=_of(profile.memory, (0, middle)),
        device=_of(profile.device, (0, middle)),
    )


def taken_off(profilers: Iterable[ProfilerCost | None]) -> str:
    """A sentence on what the profiler itself cost, and whether that is in the times.

    Args:
        profilers: of the variants that ran.
    """
    known = [one for one in profilers if one is not None]
    if not known:
        return "The profiler's own microseconds a node are not taken off: nobody measured them."
    node, between = _range([o.node_us for o in known]), _range([o.between_us for o in known])
    slower = _range([100 * one.slower for one in known])
    slowed = f", {slower} % of its next {_range([one.reach_us for one in known])} µs"
    return (
        f"Profiler: −{node} µs a node{slowed if any(one.slower for one in known) else ''}, "
        f"−{between} µs between two, measured here in turns with these runs."
    )


def _range(numbers: Sequence[float]) -> str:
    """The least and the most, once if they read alike."""
    ends = dict.fromkeys(f"{number:.2g}" for number in (min(numbers), max(numbers)))
    return " to ".join(ends)


def _of(curves: Sequence[MemoryCurve], kept: Sequence[int]) -> tuple[MemoryCurve, ...]:
    return tuple(curves[index] for index in kept if index < len(curves))


def _ms(time_us: float) -> str:
    return three_digits(time_us / 1000)
