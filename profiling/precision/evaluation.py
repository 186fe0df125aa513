"""What is known of a plan that was tried, and who finds it out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from profiling.precision.plans import Plan
from profiling.racing.samples import Contrast


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One plan, built and run.

    Attributes:
        size_bytes: of its file, weights included.
        sqnr_db: signal to quantization noise of the worst output on inputs held out; endless where
            nothing differs.
        relative: largest difference of any output, as a share of that output's scale.
        metric: what the user's own function gives; None where there is none.
        speed: against the model as it came; None where it was not raced.
        failure: why there is no file, or none that runs; else empty.
    """

    plan: Plan
    size_bytes: int = 0
    sqnr_db: float = math.inf
    relative: float = 0.0
    metric: float | None = None
    speed: Contrast | None = None
    failure: str = ""

    @property
    def is_faster(self) -> bool:
        """Whether it is surely faster than the model as it came."""
        return self.speed is not None and self.speed.verdict == "faster"


class Budget(Protocol):
    """What may be lost."""

    def excess(self, found: Evaluation) -> float:
        """How far beyond the budget, 0 or less within; only comparable with each other."""
        ...


class Evaluator(Protocol):
    """Builds plans and runs them."""

    def assess(self, plan: Plan) -> Evaluation:
        """Size and errors; a plan that cannot be built or run says why.

        Raises:
            Cancelled: asked to stop.
        """
        ...

    def race(self, plans: Sequence[Plan]) -> Sequence[Contrast | None]:
        """Each plan's speed against the model as it came, from one race; None without times.

        Raises:
            Cancelled: asked to stop.
        """
        ...
