"""Everything that one search tried, within its time; nothing is built or raced twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from optimizer.isolation import Following, silent
from optimizer.numbers import counted
from profiling.precision.evaluation import PlanEvaluation, PlanEvaluator, Requirement
from profiling.precision.plans import BITS, Choice, Goal, PrecisionPlan, Variant, choices_of
from profiling.precision.regions import Region
from profiling.precision.times import TimeModel

_AS_CHEAP = 1.01


class Over(Exception):
    """There is no time left, or there were trials enough; the text says which."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a search may take.

    Attributes:
        seconds: after which nothing new is begun, but for one last race.
        trials: plans that are built.
    """

    seconds: float = 300.0
    trials: int = 400


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for.

    Attributes:
        regions: of the model.
        offered: choices that there are passes for, float32 among them.
        methods: by which ranges may be chosen, the plainest first.
        variants: ways of making int8 beside the plain one.
        source: the model as it came, as a plan.
    """

    regions: tuple[Region, ...]
    offered: frozenset[Choice]
    methods: tuple[str, ...]
    budget: Requirement
    goal: Goal
    source: PlanEvaluation
    variants: tuple[Variant, ...] = ()

    def choices(self, region: int) -> tuple[Choice, ...]:
        """What a region may have, float32 first."""
        return tuple(c for c in choices_of(self.regions[region]) if c in self.offered)


class Trials:
    """What was tried, in order, the model as it came first.

    Attributes:
        method: by which ranges are chosen from now on.
        variant: how int8 is made from now on.

    Args:
        question: what is searched for.
        evaluator: builds and runs.
        allowance: what may be taken.
        observe: gets what is known after each plan and each race.
        known: results of another search that hold here, too.
        following: told what is done; `cancelled` is the evaluator's to ask.
    """

    def __init__(
        self,
        question: Question,
        evaluator: PlanEvaluator,
        allowance: Allowance,
        observe: Callable[[Trials], object] | None,
        known: Iterable[PlanEvaluation] = (),
        **following: Unpack[Following],
    ) -> None:
        self.question = question
        self.found = {question.source.plan: question.source}
        self.method = ""
        self.variant: Variant = ""
        self._known = {one.plan: one for one in known}
        self.times = TimeModel([region.share for region in question.regions])
        self._evaluator, self._allowance, self._observe = evaluator, allowance, observe
        self._progress = following.get("progress") or silent
        self._began = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Since the search began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Share of the allowance that is left, in time or in plans."""
        of_time = 1 - self.elapsed_s / max(self._allowance.seconds, 1e-9)
        return min(of_time, 1 - (len(self.found) - 1) / self._allowance.trials)

    def plan(self, choices: Sequence[Choice], method: str = "") -> PrecisionPlan:
        """A plan of these choices."""
        return PrecisionPlan(tuple(choices), method or self.method, self.variant).settled

    def changed(self, plan: PrecisionPlan, region: int, choice: Choice) -> PrecisionPlan:
        """A plan with another choice for one region."""
        choices = (*plan.choices[:region], choice, *plan.choices[region + 1 :])
        if not plan.method:  # there may have been nothing static in it
            return self.plan(choices)
        return replace(plan, choices=choices).settled

    def assess(self, plan: PrecisionPlan) -> PlanEvaluation:
        """Size and errors of a plan, as they are known or found now.

        Raises:
            Over: nothing new may be begun.
        """
        if plan not in self.found:
            self.found[plan] = self._known.get(plan) or self._found(plan)
            self._show()
        return self.found[plan]

    def race(self, plans: Sequence[PrecisionPlan], *, last: bool = False) -> None:
        """Time plans against the model as it came, those that were not.

        Args:
            plans: which; what failed is left out.
            last: whether time that is over does not matter.

        Raises:
            Over: nothing new may be begun.
        """
        known = [self.found[plan] for plan in dict.fromkeys(plans)]
        new = [one.plan for one in known if not one.failure and one.speed is None]
        new = [plan for plan in new if not plan.is_float]
        if not new:
            return
        if not last:
            self._require_room()
        self._tell(f"racing {counted(len(new), 'plan')}")
        for plan, speed in zip(new, self._evaluator.race(new), strict=True):
            self.found[plan] = replace(self.found[plan], speed=speed)
        ours = (one for one in self.found.values() if one.plan.variant != "onnxruntime")
        times = {one.plan: 1 / one.speed.speedup for one in ours if one.speed}
        if times:
            self.times.learn(times)
        self._show()

    def excess(self, plan: PrecisionPlan) -> float:
        """How far a plan is beyond the budget; endless where it does not run."""
        known = self.assess(plan)
        return float("inf") if known.failure else self.question.budget.excess(known)

    def cost(self, plan: PrecisionPlan) -> float:
        """What a plan that was assessed takes, of what the model as it came takes.

        In bytes, or in time, where it was not raced as estimated.
        """
        known = self.found[plan]
        if self.question.goal == "size":
            return known.size_bytes / self.question.source.size_bytes
        return self.times.estimate(plan) if known.speed is None else 1 / known.speed.speedup

    def expected(self, plan: PrecisionPlan) -> float:
        """The same, estimated for any plan."""
        if self.question.goal == "speed":
            return self.times.estimate(plan)
        regions = zip(plan.choices, self.question.regions, strict=True)
        return sum(BITS[choice] * region.weight_bytes for choice, region in regions)

    def is_settled(self, useful: Collection[Choice]) -> bool:
        """Whether the best plan is as cheap as the estimate of any of these choices' plans."""
        best = self.best
        if best is None:
            return False
        cheapest = best
        for region in range(len(best.choices)):
            for choice in self.question.choices(region):
                tried = self.changed(cheapest, region, choice)
                if choice in useful and self.expected(tried) < self.expected(cheapest):
                    cheapest = tried
        return self.expected(best) <= _AS_CHEAP * self.expected(cheapest)

    def is_gain(self, plan: PrecisionPlan) -> bool:
        """Whether a plan is surely what was asked for more of: faster, or smaller."""
        known = self.found[plan]
        if known.failure or plan.is_float:
            return False
        if self.question.goal == "size":
            return known.size_bytes < self.question.source.size_bytes
        return known.is_faster

    @property
    def best(self) -> PrecisionPlan | None:
        """The cheapest plan within the budget that is a gain; None as long as there is none."""
        within = [plan for plan in self.found if self.is_gain(plan) and self.excess(plan) <= 0]
        return min(
            within,
            key=lambda plan: (self.cost(plan), self.found[plan].size_bytes, self.excess(plan)),
            default=None,
        )

    def _found(self, plan: PrecisionPlan) -> PlanEvaluation:
        self._require_room()
        self._tell(f"plan {len(self.found)}: {plan.text(self.question.regions)}")
        return self._evaluator.assess(plan)

    def _require_room(self) -> None:
        if self.elapsed_s >= self._allowance.seconds:
            raise Over(f"the {self._allowance.seconds:.0f} s are used up")
        if len(self.found) > self._allowance.trials:
            raise Over(f"{counted(self._allowance.trials, 'plan')} were tried, the limit")

    def _tell(self, text: str) -> None:
        self._progress(text, min(0.99, self.elapsed_s / self._allowance.seconds))

    def _show(self) -> None:
        if self._observe is not None:
            self._observe(self)
