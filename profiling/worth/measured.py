"""What the steps of a trace bought in latency, measured at cut points.

First the pass boundaries race against each other. Where two neighbours differ clearly, the steps
between them are cut again and race once more, together with the source and the optimized model,
until every clear difference is one step, the rest is not clear, or the budget is used up. As
long as what differs clearly makes up less than half of the total, the same points race again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from optimizer.errors import RunError
from optimizer.isolation import Progress, silent
from profiling.config import RunConfig
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.workers import WorkerPool
from profiling.worth.cuts import first_cuts, next_cuts
from profiling.worth.levels import Heat, Levels, Span, Speedup

RUNS = 100_000
"""More than fit: time is what ends a race."""

_FIRST_SHARE = 0.35
_LEAST_SHARE = 0.15
_ENOUGH_ROUNDS = 8
_FEWEST_POINTS = 5
_TOLD = 0.5
"""Share of the total that clear differences must make up, or the same points race again."""


@dataclass(frozen=True, slots=True)
class MeasuringBudget:
    """How much may be measured.

    Attributes:
        seconds: of steady running in all races together; sessions and warm-up come on top.
        points: different steps that are written as files and run.
        side_by_side: of them in one race; every one is a process with the model in memory.
    """

    seconds: float = 30.0
    points: int = 24
    side_by_side: int = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps between two neighbouring cut points, and what they did together.

    Attributes:
        span: the step before them, and the last of them.
    """

    span: Span
    change: Speedup

    @property
    def steps(self) -> range:
        """The steps inside."""
        return range(self.span[0] + 1, self.span[1] + 1)


@dataclass(frozen=True)
class Measured:
    """The waterfall that was measured.

    Attributes:
        heats: the races it rests on, in order.
        boundaries: between passes; the first point is the source, the last the optimized model.
        ended: why no more was cut.
    """

    heats: tuple[Heat, ...]
    boundaries: tuple[int, ...]
    ended: str = ""

    @cached_property
    def levels(self) -> Levels:
        """Latencies of all cut points on one scale."""
        return Levels(self.heats)

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """All of them, in order; their logarithms add up to that of `total`."""
        spans = itertools.pairwise(self.levels.points)
        return tuple(Segment(span, self.levels.change(span)) for span in spans)

    @property
    def total(self) -> Speedup:
        """From the first to the last point."""
        return self.levels.change((self.levels.points[0], self.levels.points[-1]))

    @property
    def source_ms(self) -> float:
        """Median latency of the source, over all races."""
        found = [timing for heat in self.heats for timing in heat.race.timings[:1]]
        return float(np.median([latency for timing in found for latency in timing.latencies_ms]))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Cut points that do not count, and why; what else a reader should know."""
        lost = [
            f"Step {step} was left out: {heat.race.verdict(timing.label)}."
            for heat in self.heats
            for step, timing in zip(heat.steps, heat.race.timings, strict=True)
            if not timing.believable
        ]
        others = [remark for heat in self.heats[:1] for remark in heat.race.remarks]
        return tuple(dict.fromkeys([*lost, *others]))


@dataclass(slots=True)
class _Course:
    """What all heats of one waterfall share."""

    model_of: Callable[[int], Path]
    config: RunConfig
    pool: WorkerPool
    budget: MeasuringBudget
    progress: Progress
    cancelled: Callable[[], bool] | None
    observe: Callable[[Measured], object] | None
    boundaries: tuple[int, ...]
    heats: list[Heat] = field(default_factory=list[Heat])
    spent_s: float = 0.0
    last_s: float = 0.0

    @property
    def left_s(self) -> float:
        return self.budget.seconds - self.spent_s

    def found(self, ended: str = "") -> Measured:
        return Measured(tuple(self.heats), self.boundaries, ended)


def measured_waterfall(
    boundaries: Sequence[int],
    model_of: Callable[[int], Path],
    *,
    pool: WorkerPool,
    config: RunConfig | None = None,
    budget: MeasuringBudget | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    observe: Callable[[Measured], object] | None = None,
) -> Measured:
    """Measure what the steps bought.

    Args:
        boundaries: between passes: step 0, …, the last step; at least two.
        model_of: the file of a step.
        pool: gives the worker processes.
        config: how every cut point is run.
        budget: what may be spent.
        progress: called with words and a fraction.
        cancelled: asked now and then.
        observe: gets what is known so far, at most twice a second.

    Raises:
        RunError: the source, or the optimized model, gives no latencies that count.
        StudioError: a step cannot be written.
        Cancelled: if `cancelled` said so.
    """
    budget = budget or MeasuringBudget()
    course = _Course(
        model_of, config or RunConfig(), pool, budget, progress or silent, cancelled, observe,
        tuple(boundaries),
    )  # fmt: skip
    _heat(course, first_cuts(boundaries, budget.side_by_side), _FIRST_SHARE * budget.seconds)
    while True:
        steps, ended = _next(course)
        if ended:
            return course.found(ended)
        _heat(course, steps, _share_s(course))


def _next(course: _Course) -> tuple[tuple[int, ...], str]:
    """The points of the next race, or why there is none."""
    budget, found = course.budget, course.found()
    if course.left_s < _LEAST_SHARE * budget.seconds:
        return (), f"the {budget.seconds:.0f} s are used up"
    most = min(budget.side_by_side, _affordable(course))
    clear = [s for s in found.segments if s.change.clear]
    wide = [s for s in clear if len(s.steps) > 1]
    told = abs(sum(segment.change.log for segment in clear))
    if not wide and told < _TOLD * abs(found.total.log):
        return first_cuts(course.boundaries, most), ""  # more rounds may tell
    return _cuts(course, wide, most)


def _cuts(course: _Course, clear: Sequence[Segment], most: int) -> tuple[tuple[int, ...], str]:
    """Points inside the segments that differ clearly, as many as may still be written."""
    if not clear:
        return (), "every clear difference is one step, and nothing else differs clearly"
    points = course.found().levels.points
    strongest = [(segment.span, segment.change.log) for segment in clear]
    known = {step for heat in course.heats for step in heat.steps}
    for count in range(most, _FEWEST_POINTS - 1, -1):
        steps = next_cuts(strongest, course.boundaries, count)
        new = set(steps) - set(points)
        if steps and new <= known:
            return (), "the cut points between did not run"
        if steps and len(new) <= course.budget.points - len(points):
            return steps, ""
    return (), f"{course.budget.points} cut points are used up"


def _affordable(course: _Course) -> int:
    """Points of which enough rounds fit into the next race, as slow as the last one went."""
    last = course.heats[-1]
    rounds = max(len(timing.blocks_ms) for timing in last.race.timings)
    block_s = course.last_s / max(1, rounds * len(last.steps))
    return max(_FEWEST_POINTS, int(_share_s(course) / (_ENOUGH_ROUNDS * block_s)))


def _share_s(course: _Course) -> float:
    """Seconds for the next race: half of what is left, so that there may be one more."""
    return min(course.left_s, max(course.left_s / 2, _LEAST_SHARE * course.budget.seconds))


def _heat(course: _Course, steps: tuple[int, ...], seconds: float) -> None:
    begun, budget = course.spent_s, course.budget.seconds
    number = len(course.heats) + 1

    def report(text: str, fraction: float) -> None:
        words = f"race {number}, {len(steps)} cut points: {text}"
        course.progress(words, (begun + fraction * seconds) / budget)

    report("writing models", 0.0)
    variants = [Variant(_label(step), course.model_of(step), course.config) for step in steps]
    race = measure(
        variants,
        pool=course.pool,
        plan=RacePlan(runs=RUNS, seconds=seconds),
        progress=report,
        cancelled=course.cancelled,
        observe=lambda race: _tell(course, Heat(steps, race)),
    )
    _require_ends(race)
    course.spent_s, course.last_s = course.spent_s + seconds, seconds
    course.heats.append(Heat(steps, race))


def _tell(course: _Course, heat: Heat) -> None:
    """What is known while a race goes on."""
    ends = (heat.race.timings[0], heat.race.timings[-1])
    if course.observe is not None and all(end.believable and end.blocks_ms for end in ends):
        course.observe(Measured((*course.heats, heat), course.boundaries))


def _require_ends(race: Race) -> None:
    """Without its ends there is no whole that bars could add up to."""
    for timing in (race.timings[0], race.timings[-1]):
        if not timing.believable or not timing.blocks_ms:
            reason = timing.error or race.verdict(timing.label)
            raise RunError(f"No waterfall: {timing.label} has no times that count ({reason}).")


def _label(step: int) -> str:
    return "source" if step == 0 else f"step {step}"
