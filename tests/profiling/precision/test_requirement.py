from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from optimizer.errors import StudioError
from optimizer.verify import ErrorBudget
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.metric import Metric, joined, labels_of, measured, metric_of
from profiling.precision.plans import PrecisionPlan
from tests.profiling.precision.synthetic import output

PLAN = PrecisionPlan(("float32",))


def lost(scaled: float, sqnr_db: float) -> PlanEvaluation:
    return PlanEvaluation(PLAN, 1, (output(scaled, sqnr_db),))


def test_powers_of_noise_add_up_in_what_is_beyond_a_budget_in_decibels() -> None:
    required = Requirement(ErrorBudget(20.0, "dB"))
    assert required.excess(lost(0.1, 20.0)) == pytest.approx(0.0)
    assert required.excess(lost(0.1, 17.0)) == pytest.approx(10**0.3 - 1)
    assert required.excess(lost(0.1, 30.0)) == pytest.approx(-0.9)
    both = 1 + required.excess(lost(0.1, 25.0)) + 1 + required.excess(lost(0.1, 27.0))
    together = -10 * math.log10(10**-2.5 + 10**-2.7)
    assert 1 + required.excess(lost(0.1, together)) == pytest.approx(both)


def test_the_worst_output_counts_and_rounding_of_zeros_does_not() -> None:
    required = Requirement(ErrorBudget(5.0, "%"))
    zeros = replace(output(1.0, -math.inf), max_abs=1e-9)
    found = PlanEvaluation(PLAN, 1, (output(0.02), output(0.1), zeros))
    assert required.excess(found) == pytest.approx(1.0)
    assert required.measured(PlanEvaluation(PLAN, 1, (output(0.021),))) == (
        "2.1 % of the scale at worst"
    )


def test_infinities_in_other_places_are_within_no_budget() -> None:
    wrong = replace(output(0.001, 60.0), ok=False, reason="infinities or NaNs in other places")
    assert (
        Requirement(ErrorBudget(20.0, "dB")).excess(PlanEvaluation(PLAN, 1, (wrong,))) == math.inf
    )


def test_of_two_requirements_the_one_that_is_farther_off_counts() -> None:
    required = Requirement(ErrorBudget(20.0, "dB"), Metric("accuracy", ">=", 0.8))
    assert str(required) == "at least 20 dB and accuracy >= 0.8"
    found = replace(lost(0.1, 30.0), metric=0.6)
    assert required.excess(found) == pytest.approx(0.25)
    assert required.measured(found) == "30.0 dB, accuracy 0.6"
    assert required.excess(replace(found, metric=0.9)) < 0
    assert Metric("loss", "<=", 2.0).excess(3.0) == 0.5


def test_a_metric_gets_outputs_joined_and_the_labels_of_the_samples_held_out(
    tmp_path: Path,
) -> None:
    file, labels = tmp_path / "metric.py", tmp_path / "labels.npy"
    file.write_text("def right(outputs, labels):\n    return (outputs['y'] == labels).sum()\n")
    np.save(labels, np.arange(10))
    metric = metric_of(f"{file}:right >= 3", labels)
    outputs = joined([{"y": np.array([4, 5])}, {"y": np.array([6, 0])}])
    found = labels_of(metric, 4, 4)
    assert found is not None
    assert found.tolist() == [4, 5, 6, 7]
    assert measured(metric, outputs, found) == 3.0
    with pytest.raises(StudioError, match="holds 10 entries; there are at least 11 samples"):
        labels_of(metric, 8, 3)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("x = 1", "is not defined in that file"),
        ("def f(outputs, labels):\n    return float('nan')", "gives nan, which is no finite"),
        ("def f(outputs, labels):\n    return 'much'", "fails: ValueError"),
        ("def f(outputs, labels):\n    raise KeyError('z')", "fails in line 2: KeyError"),
        ("def f(outputs, labels:\n", "fails in line 1: SyntaxError"),
    ],
)
def test_a_metric_that_fails_says_where_in_one_sentence(
    tmp_path: Path, code: str, why: str
) -> None:
    file = tmp_path / "metric.py"
    file.write_text(code)
    with pytest.raises(StudioError) as caught:
        measured(metric_of(f"{file}:f<=1"), {}, None)
    assert why in caught.value.message
    assert "\n" not in caught.value.message


def test_outputs_of_different_sizes_are_not_joined() -> None:
    with pytest.raises(StudioError, match="Bring all samples to one size"):
        joined([{"y": np.zeros((1, 2))}, {"y": np.zeros((1, 3))}])
