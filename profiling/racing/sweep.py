"""A race repeated at several sizes of one dimension: how latency and throughput grow with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from optimizer.codec import Format
from optimizer.errors import StudioError, quoted
from optimizer.isolation import Following
from profiling.config.question import Question
from profiling.racing.dimensions import check_dimension, inputs_of
from profiling.racing.executor import Executor, LocalExecutor, RaceJob
from profiling.racing.plan import RacePlan
from profiling.racing.questions import Partial, in_turn
from profiling.racing.race import Race, Variant
from profiling.workers import WorkerPool

MOST_SIZES = 32


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One size.

    Attributes:
        race: None where there is none.
        error: why, else empty.
    """

    size: int
    race: Race | None
    error: str = ""

    def latency_ms(self, label: str) -> float | None:
        """Median of a variant that computed the right thing; None without one."""
        found = [t for t in self.race.timings if t.label == label] if self.race else []
        summary = found[0].summary if found and all(o.ok for o in found[0].outputs) else None
        return None if summary is None else summary.p50_ms

    def throughput(self, label: str) -> float | None:
        """Items a second: the size divided by the median latency."""
        latency_ms = self.latency_ms(label)
        return None if latency_ms is None else 1000 * self.size / latency_ms


@dataclass(frozen=True, slots=True)
class Sweep:
    """Races at rising sizes.

    Attributes:
        dimension: name of what was varied.
        labels: of the variants, the baseline first.
        points: so far, in the order of the sizes asked for.
    """

    dimension: str
    labels: tuple[str, ...]
    points: tuple[SweepPoint, ...]

    @property
    def question(self) -> Question | None:
        """Whether its races ran deployed or bare; None where they are mixed, or none ran."""
        return next((point.race.question for point in self.points if point.race), None)


SWEEP = Format(Sweep, "passlens.sweep/1", "recorded sweep")


def bound(plan: RacePlan, dimension: str, size: int) -> RacePlan:
    """The plan with one dimension's size settled."""
    bindings = {**plan.request.bindings, dimension: size}
    return replace(plan, request=replace(plan.request, bindings=bindings))


def sweep(
    variants: Sequence[Variant],
    *,
    dimension: str,
    sizes: Sequence[int],
    pool: WorkerPool,
    executor: Executor | None = None,
    plan: RacePlan | None = None,
    observe: Callable[[Sweep], None] | None = None,
    **following: Unpack[Following],
) -> Sweep:
    """Race the variants at each size, in processes of their own each time.

    A size at which nothing runs keeps its reason; the other sizes go on.

    Args:
        variants: the baseline first; its inputs say which dimensions there are.
        dimension: name of the free dimension.
        sizes: from 1 on, none twice.
        pool: where the model's inputs are looked at.
        executor: where the races run; by default here, in the pool.
        plan: how much to run at each size; its bindings hold for the other dimensions.
        observe: gets the sweep as far as it is known, at most twice a second.
        following: told what is done, and which share; asked often.

    Raises:
        StudioError: the dimension is not free, or the sizes make no sense.
        Cancelled: if `cancelled` said so.
    """
    _check_sizes(sizes)
    if not variants:
        raise StudioError("A sweep needs variants.")
    check_dimension(dimension, inputs_of(variants[0].model, pool))
    labels = tuple(variant.label for variant in variants)
    jobs = [
        RaceJob(tuple(variants), bound(plan or RacePlan(), dimension, size), f"{dimension} {size}")
        for size in sizes
    ]
    known: dict[int, Race] = {}

    def seen(number: int, race: Race) -> None:
        known[number] = race
        points = (SweepPoint(sizes[index], known[index]) for index in sorted(known))
        if observe is not None:
            observe(Sweep(dimension, labels, tuple(points)))

    outcomes = (executor or LocalExecutor(pool)).run(jobs, observe=seen, **following)
    points = (
        SweepPoint(size, outcome.race, outcome.error)
        for size, outcome in zip(sizes, outcomes, strict=True)
    )
    return Sweep(dimension, labels, tuple(points))


def run_sweeps(
    asked: Sequence[Sequence[Variant]],
    plan: RacePlan,
    executor: Executor,
    *,
    dimension: str,
    sizes: Sequence[int],
    pool: WorkerPool,
    partial: Partial[Sweep] | None = None,
    **following: Unpack[Following],
) -> tuple[Sweep, ...]:
    """Sweep the variants for each question; see `sweep` and `run_races`.

    Raises:
        StudioError: the dimension is not free, or the sizes make no sense.
        Cancelled: if `cancelled` said so.
    """

    def one(variants: Sequence[Variant], seen: Callable[[Sweep], None], told: Following) -> Sweep:
        return sweep(
            variants, dimension=dimension, sizes=sizes, pool=pool, executor=executor, plan=plan,
            observe=seen, **told,
        )  # fmt: skip

    return in_turn(asked, one, partial, following)


def _check_sizes(sizes: Sequence[int]) -> None:
    if not sizes or min(sizes) < 1 or len(set(sizes)) != len(sizes):
        listed = ", ".join(str(size) for size in sizes)
        raise StudioError(f"A sweep needs different sizes from 1 on, not {quoted(listed)}.")
    if len(sizes) > MOST_SIZES:
        raise StudioError(f"A sweep takes at most {MOST_SIZES} sizes, not {len(sizes)}.")
