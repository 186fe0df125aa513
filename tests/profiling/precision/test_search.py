from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.errors import Cancelled
from profiling.precision.evaluation import PlanEvaluation
from profiling.precision.plans import Choice, Goal, PrecisionPlan
from profiling.precision.search import SearchResult, search
from profiling.precision.trials import Allowance, Question
from tests.profiling.precision.synthetic import BYTES, Synthetic, at_most, drawn

pytestmark = pytest.mark.long

INT8: tuple[Choice, ...] = ("static int8", "dynamic int8")
PLENTY = Allowance(seconds=600, trials=400)


def asked(
    synthetic: Synthetic, bound: float, *, choices: tuple[Choice, ...] = INT8, goal: Goal = "speed"
) -> Question:
    regions = synthetic.regions
    return Question(
        regions, frozenset({"float32", *choices}), ("min-max", "entropy"), at_most(bound), goal,
        PlanEvaluation(PrecisionPlan(("float32",) * len(regions)), len(regions) * BYTES),
    )  # fmt: skip


def answer(found: SearchResult) -> PrecisionPlan:
    return found.evaluations[found.answer].plan


def fastest(synthetic: Synthetic, question: Question) -> float:
    """By trying every plan there is; 1 where none is surely faster within the budget."""
    within = [
        plan for plan in synthetic.plans(question)
        if question.budget.excess(synthetic.assess(plan)) <= 0
    ]  # fmt: skip
    times = [synthetic.time(plan) for plan in within if synthetic.time(plan) < 1 / 1.05]
    return min(times, default=1.0)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_the_fastest_plan_of_a_small_space(seed: int) -> None:
    synthetic = drawn(seed, 4, INT8)
    question = asked(synthetic, 0.06)
    found = search(question, synthetic, allowance=PLENTY)
    assert question.budget.excess(found.evaluations[found.answer]) <= 0
    assert synthetic.time(answer(found)) == pytest.approx(fastest(synthetic, question), rel=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_with_few_trials_the_plan_is_nearly_the_fastest(seed: int) -> None:
    synthetic = drawn(seed, 8, INT8)
    question = asked(synthetic, 0.08)
    found = search(question, synthetic, allowance=Allowance(600, 60))
    assert len(found.evaluations) <= 61
    assert synthetic.time(answer(found)) <= 1.15 * fastest(synthetic, question)


def test_a_plan_within_the_budget_is_found_before_every_region_was_asked_about() -> None:
    synthetic = drawn(3, 16, ("static int8",))
    question = asked(synthetic, 0.12, choices=("static int8",))
    found = search(question, synthetic, allowance=Allowance(600, 14))
    assert found.met
    assert found.evaluations[found.answer].is_faster
    assert min(map(question.budget.excess, found.evaluations[1:3])) > 0


def test_plans_that_differ_by_their_ranges_alone_are_raced_once() -> None:
    synthetic = drawn(2, 3, ("static int8",))
    question = asked(synthetic, 1.0, choices=("static int8",))
    search(question, synthetic, allowance=Allowance(600, 2))
    assert len(synthetic.raced) == 1


def test_int8_is_made_in_the_way_that_loses_least_and_compared_with_the_runtimes_own() -> None:
    synthetic = drawn(2, 3, INT8)
    ways = ("corrected", "equalized", "smoothed", "onnxruntime")
    question = replace(asked(synthetic, 1e-9), variants=ways)
    found = search(question, synthetic, allowance=Allowance(600, 12))
    static = [plan for plan in synthetic.assessed if set(plan.choices) == {"static int8"}]
    tried = [plan.variant for plan in static if plan.method == "entropy"]
    assert tried == ["", "corrected", "equalized", "smoothed", "onnxruntime"]
    later = [plan for plan in synthetic.assessed[len(static) + 2 :] if plan.method]
    assert later
    assert {plan.variant for plan in later} == {"smoothed"}
    raced = [plan.text(synthetic.regions) for plan in synthetic.raced[:4]]
    assert raced == [
        "static int8 everywhere (entropy ranges, activations smoothed, biases corrected)",
        "dynamic int8 everywhere",
        "static int8 everywhere (entropy ranges, by ONNX Runtime's own tool)",
        "dynamic int8 everywhere (by ONNX Runtime's own tool)",
    ]
    assert found.nearest is not None
    easy = drawn(2, 3, INT8)
    search(replace(asked(easy, 1.0), variants=ways), easy, allowance=Allowance(600, 5))
    assert [plan.variant for plan in easy.assessed[:3]] == ["", "", "corrected"]


def test_a_budget_that_nothing_meets_is_answered_float_with_the_nearest_miss() -> None:
    synthetic = drawn(1, 3, INT8)
    question = asked(synthetic, 1e-9)
    found = search(question, synthetic, allowance=PLENTY)
    assert (found.answer, found.met) == (0, False)
    assert found.nearest is not None
    nearest = found.evaluations[found.nearest]
    assert nearest.is_faster
    least = min(one.scaled for one in found.evaluations if one.is_faster)
    assert nearest.scaled == least


def test_what_is_within_the_budget_and_not_surely_faster_is_not_taken() -> None:
    slow: list[dict[Choice, float]] = [{"float32": 0.5, "static int8": 0.49, "dynamic int8": 0.8}]
    synthetic = Synthetic(slow * 2, [dict.fromkeys(slow[0], 0.0)] * 2)
    found = search(asked(synthetic, 0.1), synthetic, allowance=PLENTY)
    assert (found.answer, found.met) == (0, True)
    assert found.nearest is not None
    speed = found.evaluations[found.nearest].speed
    assert speed is not None
    assert speed.verdict == "no_clear_difference"


def test_a_region_that_gains_alone_is_found_where_no_choice_gains_everywhere() -> None:
    times: list[dict[Choice, float]] = [
        {"float32": 0.6, "static int8": 0.2, "dynamic int8": 0.6},
        {"float32": 0.4, "static int8": 2.0, "dynamic int8": 1.0},
    ]
    synthetic = Synthetic(times, [dict.fromkeys(times[0], 0.0)] * 2)
    found = search(asked(synthetic, 0.1), synthetic, allowance=PLENTY)
    assert answer(found).choices == ("static int8", "float32")


def test_ranges_are_chosen_by_the_method_that_loses_least() -> None:
    synthetic = drawn(2, 3, ("static int8",))
    found = search(asked(synthetic, 1.0, choices=("static int8",)), synthetic, allowance=PLENTY)
    assert answer(found).method == "entropy"
    assert {plan.method for plan in synthetic.raced} == {"entropy"}


def test_for_size_the_smallest_plan_within_the_budget_is_taken_whatever_its_speed() -> None:
    synthetic = drawn(4, 4, ("int8 weights",))
    slower = [{choice: 3 * time for choice, time in times.items()} for times in synthetic.times]
    synthetic = replace(synthetic, times=slower)
    question = asked(synthetic, 0.05, choices=("int8 weights",), goal="size")
    found = search(question, synthetic, allowance=PLENTY)
    sizes = [
        one.size_bytes for one in map(synthetic.assess, synthetic.plans(question))
        if question.budget.excess(one) <= 0
    ]  # fmt: skip
    assert found.evaluations[found.answer].size_bytes == min(sizes) < question.source.size_bytes
    assert found.evaluations[found.answer].speed is not None


def test_a_plan_that_does_not_load_is_kept_with_its_reason_and_never_taken() -> None:
    synthetic = drawn(5, 3, INT8)
    synthetic = replace(synthetic, failing=frozenset({"static int8"}))
    found = search(asked(synthetic, 1.0), synthetic, allowance=PLENTY)
    failed = [one for one in found.evaluations if one.failure]
    assert failed
    assert all("static int8" in one.plan.choices and one.speed is None for one in failed)
    assert set(answer(found).choices) == {"dynamic int8"}


def test_no_more_plans_are_tried_than_allowed_and_the_search_says_so() -> None:
    synthetic = drawn(6, 8, INT8)
    found = search(asked(synthetic, 0.05), synthetic, allowance=Allowance(600, 20))
    assert len(synthetic.assessed) == 20
    assert found.ended == "20 plans were tried, the limit"
    assert len(set(synthetic.assessed)) == 20


def test_time_that_is_over_ends_the_search() -> None:
    synthetic = drawn(6, 8, INT8)
    found = search(asked(synthetic, 0.05), synthetic, allowance=Allowance(0.0, 20))
    assert found.ended == "the 0 s are used up"
    assert len(found.evaluations) == 1


def test_what_was_found_stays_when_the_search_is_cancelled() -> None:
    synthetic = drawn(7, 4, INT8)
    plain = synthetic.assess

    def assess(plan: PrecisionPlan) -> PlanEvaluation:
        if len(synthetic.assessed) == 5:
            raise Cancelled("Cancelled.")
        return plain(plan)

    synthetic.assess = assess
    seen: list[SearchResult] = []
    found = search(asked(synthetic, 0.05), synthetic, allowance=PLENTY, observe=seen.append)
    assert found.ended == "cancelled"
    assert len(found.evaluations) == 6
    assert seen[-1].evaluations == found.evaluations


def test_plans_say_what_they_do_in_words() -> None:
    synthetic = drawn(0, 3, INT8)
    everywhere = PrecisionPlan(("static int8",) * 3, "entropy")
    assert everywhere.text(synthetic.regions) == "static int8 everywhere (entropy ranges)"
    some = PrecisionPlan(("float32", "dynamic int8", "static int8"), "entropy")
    text = "dynamic int8 in 1 of 3 regions, static int8 in 1 of 3 regions (entropy ranges)"
    assert some.text(synthetic.regions) == text
    most = replace(everywhere, choices=("static int8", "static int8", "float32"))
    assert most.text(synthetic.regions) == "static int8 everywhere but in a region (entropy ranges)"
    assert PrecisionPlan(("float32",) * 3).text(synthetic.regions) == "float32"
    assert replace(some, choices=("float32", "dynamic int8")).settled.method == ""
    assert len({some.digest, everywhere.digest, replace(everywhere, method="mse").digest}) == 3
