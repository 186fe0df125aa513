"""What is known of a plan that was tried, what it is held to, and who finds it out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from optimizer.numbers import three_digits
from optimizer.verify import Comparison, ErrorBudget
from optimizer.verify.comparison import ATOL
from profiling.precision.metric import Metric
from profiling.precision.plans import PrecisionPlan
from profiling.racing.samples import Contrast


@dataclass(frozen=True, slots=True)
class PlanEvaluation:
    """One plan, built and run.

    Attributes:
        size_bytes: of its file, weights included.
        outputs: each output against the model as it came, over all inputs held out.
        metric: what the user's own function gives; None where there is none.
        speed: against the model as it came; None where it was not raced.
        failure: why there is no file, or none that runs; else empty.
    """

    plan: PrecisionPlan
    size_bytes: int = 0
    outputs: tuple[Comparison, ...] = ()
    metric: float | None = None
    speed: Contrast | None = None
    failure: str = ""

    @property
    def sqnr_db(self) -> float:
        """Signal over error of the worst output; endless where nothing differs."""
        return min((one.sqnr_db for one in self.outputs), default=math.inf)

    @property
    def worst_db(self) -> float:
        """The same of the worst input alone."""
        return min((one.worst_db for one in self.outputs), default=math.inf)

    @property
    def scaled(self) -> float:
        """Largest difference of any output, as a share of that output's scale."""
        return max((one.scaled for one in self.outputs), default=0.0)

    @property
    def is_faster(self) -> bool:
        """Whether it is surely faster than the model as it came."""
        return self.speed is not None and self.speed.verdict == "faster"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a plan is held to: an error of each output, the user's own metric, or both."""

    error: ErrorBudget | None = None
    metric: Metric | None = None

    def __str__(self) -> str:
        """In words."""
        most = (
            ""
            if self.error is None
            else f"{'at most' if self.error.unit == '%' else 'at least'} {self.error}"
        )
        return " and ".join(filter(None, [most, "" if self.metric is None else str(self.metric)]))

    def excess(self, found: PlanEvaluation) -> float:
        """How far beyond it, 0 or less within; only comparable with each other.

        Errors of regions add up in it, as far as they are independent: powers of noise do.
        """
        return max(self._of_error(found), self._of_metric(found))

    def measured(self, found: PlanEvaluation) -> str:
        """What a plan loses, in the terms of what it is held to."""
        parts = (
            []
            if self.error is None
            else [
                self.error.over_all(
                    scaled=found.scaled, sqnr_db=found.sqnr_db, worst_db=found.worst_db
                )
            ]
        )
        if self.metric is not None and found.metric is not None:
            parts.append(f"{self.metric.function} {three_digits(found.metric)}")
        return ", ".join(parts)

    def _of_error(self, found: PlanEvaluation) -> float:
        if self.error is None:
            return -math.inf
        return max((_excess(self.error, one) for one in found.outputs), default=-1.0)

    def _of_metric(self, found: PlanEvaluation) -> float:
        if self.metric is None or found.metric is None:
            return -math.inf
        return self.metric.excess(found.metric)


def _excess(budget: ErrorBudget, found: Comparison) -> float:
    """Of one output."""
    if found.max_abs <= ATOL and found.ok:
        return -1.0
    if budget.unit == "%":
        excess = 100 * found.scaled / budget.amount - 1
    else:
        excess = 10 ** min(100.0, (budget.amount - found.sqnr_db) / 10) - 1
    return excess if found.ok or excess > 0 else math.inf  # infinities, or other whole numbers


class PlanEvaluator(Protocol):
    """Builds plans and runs them."""

    def assess(self, plan: PrecisionPlan) -> PlanEvaluation:
        """Size and errors; a plan that cannot be built or run says why.

        Raises:
            Cancelled: asked to stop.
        """
        ...

    def race(self, plans: Sequence[PrecisionPlan]) -> Sequence[Contrast | None]:
        """Each plan's speed against the model as it came, from one race; None without times.

        Raises:
            Cancelled: asked to stop.
        """
        ...
