"""The cheapest plan within a budget: corners, reversion by sensitivity, then Optuna.

Corners first: everything as it came, each choice everywhere, int8 made in every way that suits the
model, and by ONNX Runtime's own tool to compare with. Of a corner that is a gain and loses
too much, each region is set back alone, the heaviest first, for half of the time that is left;
those that give most accuracy for what they cost are set back until the rest is within the budget,
and then each that fits is put in again. What time is left goes to Optuna.

Source: the reversion is that of accuracy-aware quantization in NNCF; single layers on and off are
AIMET's sensitivity analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Unpack

from optimizer.errors import Cancelled
from optimizer.isolation import Following
from profiling.precision.evaluation import PlanEvaluation, PlanEvaluator
from profiling.precision.plans import CHOICES, Choice, PrecisionPlan
from profiling.precision.sampling import sample
from profiling.precision.trials import Allowance, Over, Question, Trials

_HEAVIEST, _LIKELIEST = 3, 2
"""Regions that are tried alone where no choice is a gain everywhere, and choices for them."""

_FINALISTS = 3
_ABOUT_AS_CHEAP = 1.05
"""Estimates of times are no better than this."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Attributes:
        evaluations: everything tried, the model as it came first.
        within: places of those within the budget.
        answer: place of the plan to take; 0, the model as it came, where nothing else will do.
        nearest: where the answer is 0, place of what came nearest; None where nothing ran.
        ended: why the search was over.
    """

    evaluations: tuple[PlanEvaluation, ...]
    within: tuple[int, ...]
    answer: int
    nearest: int | None
    ended: str

    @property
    def met(self) -> bool:
        """Whether anything but the model as it came is within the budget."""
        return len(self.within) > 1


def search(
    question: Question,
    evaluator: PlanEvaluator,
    *,
    allowance: Allowance | None = None,
    observe: Callable[[SearchResult], object] | None = None,
    known: Iterable[PlanEvaluation] = (),
    **following: Unpack[Following],
) -> SearchResult:
    """The cheapest plan within the budget, and everything tried on the way.

    Args:
        question: what is searched for.
        evaluator: builds plans and runs them.
        allowance: what it may take.
        observe: gets what is known so far.
        known: results of another search that hold here, too.
        following: told what is done; being cancelled ends the search, and what was found stays.
    """

    def show(trials: Trials) -> None:
        if observe is not None:
            observe(_found(trials, ""))

    trials = Trials(question, evaluator, allowance or Allowance(), show, known, **following)
    ended = "everything worth a trial was tried"
    try:
        try:
            _explore(trials)
        except Over as over:
            ended = str(over)
        _settle(trials)
    except Cancelled:
        ended = "cancelled"
    return _found(trials, ended)


def _explore(trials: Trials) -> None:
    corners = _corners(trials)
    gains = [plan for plan in corners.values() if trials.is_gain(plan)]
    if not gains:
        gains = list(_alone(trials, corners))
    for plan in sorted(gains, key=trials.cost):
        if trials.excess(plan) > 0:
            _revert(trials, plan)
    useful: set[Choice] = {choice for plan in gains for choice in plan.choices}
    if gains and not trials.is_settled(useful):
        sample(trials, useful)


def _corners(trials: Trials) -> dict[Choice, PrecisionPlan]:
    """Each choice everywhere it makes sense, assessed; raced where speed is the goal."""
    corners: dict[Choice, PrecisionPlan] = {}
    for choice in _choices(trials):
        plans = [_everywhere(trials, choice, method) for method in _methods(trials, choice)]
        corners[choice] = _varied(trials, min(plans, key=trials.excess))
        if choice == "static int8":
            trials.method, trials.variant = corners[choice].method, corners[choice].variant
    theirs = list(_theirs(trials, corners))
    if trials.question.goal == "speed":
        trials.race([*corners.values(), *theirs])
    return corners


def _varied(trials: Trials, plain: PrecisionPlan) -> PrecisionPlan:
    """Static int8 made in the way that loses least.

    Correcting biases costs nothing and is always tried, what moves outliers where it is needed.
    """
    if "static int8" not in plain.choices or trials.found[plain].failure:
        return plain
    best = plain
    for variant in trials.question.variants:
        needed = variant == "corrected" or trials.excess(best) > 0
        if variant != "onnxruntime" and needed:
            best = min(best, replace(plain, variant=variant), key=trials.excess)
    return best


def _theirs(trials: Trials, corners: Mapping[Choice, PrecisionPlan]) -> Iterator[PrecisionPlan]:
    """The same corners by ONNX Runtime's own tool: what ours have to be as good as."""
    for choice in ("static int8", "dynamic int8"):
        corner = corners.get(choice)
        if corner is None or "onnxruntime" not in trials.question.variants:
            continue
        own = tuple(one if one == choice else "float32" for one in corner.choices)
        plan = replace(corner, choices=own, variant="onnxruntime")
        if not plan.is_float and not trials.assess(plan).failure:
            yield plan


def _choices(trials: Trials) -> Iterable[Choice]:
    regions = range(len(trials.question.regions))
    every = {choice for region in regions for choice in trials.question.choices(region)}
    return [choice for choice in CHOICES if choice in every and choice != "float32"]


def _methods(trials: Trials, choice: Choice) -> tuple[str, ...]:
    return trials.question.methods if choice == "static int8" else ("",)


def _everywhere(trials: Trials, choice: Choice, method: str) -> PrecisionPlan:
    """A choice wherever there is it; for size, tables are stored in int8 beside all of them."""
    question = trials.question
    wanted: list[Choice] = []
    for region, known in enumerate(question.regions):
        able = question.choices(region)
        small = question.goal == "size" and known.kind == "embeddings"
        wanted.append(choice if choice in able else able[-1] if small else "float32")
    return trials.plan(wanted, method)


def _alone(trials: Trials, corners: dict[Choice, PrecisionPlan]) -> Iterable[PrecisionPlan]:
    """Gains among the heaviest regions, each changed alone to what costs least everywhere."""
    shares = [region.share for region in trials.question.regions]
    heaviest = sorted(range(len(shares)), key=lambda region: -shares[region])[:_HEAVIEST]
    plans = [
        trials.changed(trials.question.source.plan, region, corner.choices[region])
        for corner in sorted(corners.values(), key=trials.cost)[:_LIKELIEST]
        for region in heaviest
        if len(shares) > 1 and not trials.found[corner].failure
    ]
    plans = [plan for plan in dict.fromkeys(plans) if not plan.is_float]
    for plan in plans:
        trials.assess(plan)
    if trials.question.goal == "speed":
        trials.race(plans)
    return [plan for plan in plans if trials.is_gain(plan)]


def _revert(trials: Trials, corner: PrecisionPlan) -> None:
    """The least that has to be set back in a corner, and what then still fits, raced."""
    changed = [place for place, choice in enumerate(corner.choices) if choice != "float32"]
    gains = dict.fromkeys(changed, 0.0)
    enough = trials.left / 2
    for region in sorted(changed, key=lambda region: -_weight(trials, corner, region)):
        if trials.left < enough:
            break
        gained = trials.excess(corner) - trials.excess(trials.changed(corner, region, "float32"))
        gains[region] = gained / _weight(trials, corner, region)
    order = sorted(changed, key=lambda region: -gains[region])
    low, high = 0, len(order)  # none set back is too much, all set back is the model as it came
    while high - low > 1:
        middle = (low + high) // 2
        if trials.excess(_without(trials, corner, order[:middle])) <= 0:
            high = middle
        else:
            low = middle
    plan = _refilled(trials, _without(trials, corner, order[:high]), corner)
    if not plan.is_float and trials.question.goal == "speed":
        trials.race([plan])


def _refilled(trials: Trials, plan: PrecisionPlan, corner: PrecisionPlan) -> PrecisionPlan:
    """The plan with the cheapest choices that are still within the budget, region by region."""
    for region in sorted(range(len(plan.choices)), key=lambda r: -_weight(trials, corner, r)):
        others = [
            trials.changed(plan, region, choice) for choice in trials.question.choices(region)
        ]
        cheaper = [one for one in others if trials.expected(one) < trials.expected(plan)]
        for tried in sorted(cheaper, key=trials.expected):
            if trials.excess(tried) <= 0:
                plan = tried
                break
    return plan


def _without(trials: Trials, corner: PrecisionPlan, regions: Iterable[int]) -> PrecisionPlan:
    for region in regions:
        corner = trials.changed(corner, region, "float32")
    return corner


def _weight(trials: Trials, corner: PrecisionPlan, region: int) -> float:
    """What setting a region back costs."""
    known = trials.question.regions[region]
    if trials.question.goal == "size":
        return known.weight_bytes + 1.0
    return known.share * max(1e-3, 1 - trials.times.factor(corner.choices[region])) + 1e-9


def _settle(trials: Trials) -> None:
    """Race what is within the budget and seems as cheap as the best, where it was not raced."""
    best = trials.best
    bound = _ABOUT_AS_CHEAP * (1.0 if best is None else trials.cost(best))
    known = [plan for plan, one in trials.found.items() if not plan.is_float and not one.failure]
    within = [plan for plan in known if trials.excess(plan) <= 0 and trials.cost(plan) <= bound]
    raced = {plan.operations for plan in within if trials.found[plan].speed is not None}
    alike: dict[object, PrecisionPlan] = {}  # of plans that differ by numbers alone, one
    for plan in sorted(within, key=trials.excess):
        if plan.operations not in raced:
            alike.setdefault(plan.operations, plan)
    new = list(alike.values())
    if trials.question.goal == "size":
        new = [plan for plan in new if plan == best]
    trials.race(sorted(new, key=trials.cost)[:_FINALISTS], last=True)


def _found(trials: Trials, ended: str) -> SearchResult:
    plans, best = list(trials.found), trials.best
    ran = [plan for plan in plans if not trials.found[plan].failure]
    within = tuple(
        place for place, plan in enumerate(plans) if plan in ran and trials.excess(plan) <= 0
    )
    others = [plan for plan in ran if not plan.is_float]
    nearest = None
    if best is None and others:
        fits = [plan for plan in others if trials.excess(plan) <= 0]
        gains = [plan for plan in others if trials.is_gain(plan)] or others
        chosen = min(fits, key=trials.cost) if fits else min(gains, key=trials.excess)
        nearest = plans.index(chosen)
    answer = 0 if best is None else plans.index(best)
    return SearchResult(tuple(trials.found.values()), within, answer, nearest, ended)
