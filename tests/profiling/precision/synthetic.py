"""Plans whose size, speed and error are sums over their regions, so that the best one is known."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from optimizer.verify import Comparison, ErrorBudget
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.plans import Choice, PrecisionPlan, Variant
from profiling.precision.regions import Kind, Region
from profiling.precision.trials import Question
from profiling.racing.samples import Contrast

BYTES = 1 << 20
VARIANTS: Mapping[Variant, float] = {
    "": 1.0, "corrected": 0.9, "equalized": 1.1, "smoothed": 0.5, "onnxruntime": 1.2
}  # fmt: skip
"""What each loses, of what the plain one loses."""


@dataclass
class Synthetic:
    """Each region's time and error for each choice.

    Attributes:
        times: of a region with a choice; those of float32 sum up to 1.
        errors: of a region with a choice.
        failing: plans with these choices cannot be built.
    """

    times: Sequence[dict[Choice, float]]
    errors: Sequence[dict[Choice, float]]
    failing: frozenset[Choice] = frozenset()
    assessed: list[PrecisionPlan] = field(default_factory=list[PrecisionPlan])
    raced: list[PrecisionPlan] = field(default_factory=list[PrecisionPlan])

    def assess(self, plan: PrecisionPlan) -> PlanEvaluation:
        self.assessed.append(plan)
        if self.failing.intersection(plan.choices):
            return PlanEvaluation(plan, failure="It does not load.")
        pairs = list(enumerate(plan.choices))
        size = sum(BYTES if choice in ("float32", "float16") else BYTES // 4 for _, choice in pairs)
        worse = 1.5 if plan.method == "min-max" else 1.0
        worse *= VARIANTS[plan.variant]
        return PlanEvaluation(
            plan, size, (output(worse * sum(self.errors[r][c] for r, c in pairs)),)
        )

    def race(self, plans: Sequence[PrecisionPlan]) -> list[Contrast]:
        self.raced += plans
        return [contrast(1 / self.time(plan)) for plan in plans]

    def time(self, plan: PrecisionPlan) -> float:
        return sum(self.times[region][choice] for region, choice in enumerate(plan.choices))

    @property
    def regions(self) -> tuple[Region, ...]:
        return tuple(region(times["float32"]) for times in self.times)

    def plans(self, question: Question) -> Iterator[PrecisionPlan]:
        """All there are."""
        regions = range(len(question.regions))
        for choices in itertools.product(*(question.choices(region) for region in regions)):
            for method in question.methods if "static int8" in choices else ("",):
                yield PrecisionPlan(choices, method)


def output(scaled: float, sqnr_db: float = 20.0) -> Comparison:
    return Comparison("y", ok=True, scale=1.0, max_abs=scaled, scaled=scaled, sqnr_db=sqnr_db)


def at_most(share: float) -> Requirement:
    """Of the output's scale."""
    return Requirement(ErrorBudget(100 * share, "%"))


def contrast(speedup: float) -> Contrast:
    verdict = "faster" if speedup > 1.05 else "slower" if speedup < 0.95 else "no_clear_difference"
    return Contrast(speedup, 0.98 * speedup, 1.02 * speedup, 40, verdict)


def region(share: float, kind: Kind = "matrix products") -> Region:
    return Region("a region", kind, ("a",), {"MatMul": 1}, BYTES, share)


def drawn(seed: int, regions: int, choices: Sequence[Choice]) -> Synthetic:
    """Random times and errors: what is faster loses more, more or less."""
    generator = np.random.default_rng(seed)
    times: list[dict[Choice, float]] = []
    errors: list[dict[Choice, float]] = []
    for share in generator.dirichlet(np.ones(regions)):
        time: dict[Choice, float] = {"float32": float(share)}
        error: dict[Choice, float] = {"float32": 0.0}
        for choice in choices:
            factor = generator.uniform(0.3, 0.8)
            time[choice] = float(share) * factor
            error[choice] = float(generator.lognormal(-4.0, 1.0)) / factor
        times.append(time)
        errors.append(error)
    return Synthetic(times, errors)
