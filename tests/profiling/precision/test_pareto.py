from __future__ import annotations

import numpy as np

from profiling.precision.evaluation import PlanEvaluation
from profiling.precision.pareto import front
from profiling.precision.plans import PrecisionPlan
from tests.profiling.precision.synthetic import contrast, output

PLAN = PrecisionPlan(("float32",))


def test_the_front_is_what_a_comparison_of_all_pairs_leaves() -> None:
    generator = np.random.default_rng(3)
    drawn = generator.integers(1, 6, (60, 3))
    found = [
        PlanEvaluation(PLAN, int(size), (output(0.1, float(-noise)),), speed=contrast(1 / time))
        for size, time, noise in drawn
    ]

    def beats(one: int, other: int) -> bool:
        return bool((drawn[one] <= drawn[other]).all() and (drawn[one] != drawn[other]).any())

    expected = [place for place in range(60) if not any(beats(other, place) for other in range(60))]
    assert list(front(found)) == expected
    assert 1 < len(expected) < 30


def test_what_does_not_run_is_not_on_the_front() -> None:
    found = [PlanEvaluation(PLAN, 10), PlanEvaluation(PLAN, 0, failure="It does not load.")]
    assert front(found) == (0,)


def test_what_was_not_raced_beats_nothing_that_is_faster() -> None:
    raced = PlanEvaluation(PLAN, 10, (output(0.1, 20),), speed=contrast(1.5))
    smaller = PlanEvaluation(PLAN, 5, (output(0.1, 30),))
    assert front([raced, smaller]) == (0, 1)
