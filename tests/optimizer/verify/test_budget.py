"""Budgets of error: how they are written, and what models are held to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optimizer.errors import StudioError
from optimizer.verify import ErrorBudget, bisect, budget_of, verify
from optimizer.verify.comparison import Comparison, Tolerance, compare_output
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model, scaled


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [("5%", 5, "%"), (" 0.5 % ", 0.5, "%"), ("25dB", 25, "dB"), ("31.5 DB", 31.5, "dB")],
)
def test_a_budget_is_written_in_percent_or_decibels(text: str, amount: float, unit: str) -> None:
    found = budget_of(text)
    assert (found.amount, found.unit) == (amount, unit)
    assert budget_of(str(found)) == found


@pytest.mark.parametrize("text", ["5", "", "-5%", "2,5 %", "inf%", "nan dB", "25 db!", "%", "1e3%"])
def test_what_is_no_budget_is_told_with_what_one_looks_like(text: str) -> None:
    with pytest.raises(StudioError, match="is no budget of error; write for example 5% or 25dB"):
        budget_of(text)


@pytest.mark.parametrize("text", ["0%", "0dB", "101%", "1000dB"])
def test_a_budget_that_means_nothing_is_told(text: str) -> None:
    with pytest.raises(StudioError, match="out of reach: more than 0, up to"):
        budget_of(text)


def held(expected: np.ndarray, actual: np.ndarray, budget: str) -> Comparison:
    return compare_output("y", expected, actual, tolerance=Tolerance(budget=budget_of(budget)))


def test_errors_are_those_of_the_definitions() -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((3, 50)).astype(np.float32)
    y = x + generator.standard_normal((3, 50)).astype(np.float32) / 10
    found = held(x, y, "10dB")
    d = (x - y).astype(np.float64)
    signal = np.square(x, dtype=np.float64).sum()
    assert found.sqnr_db == pytest.approx(10 * np.log10(signal / (d**2).sum()))
    cosine = np.dot(x.ravel(), y.ravel()) / np.linalg.norm(x) / np.linalg.norm(y)
    assert found.cosine == pytest.approx(cosine)
    assert found.scaled == pytest.approx(np.abs(d).max() / np.abs(x).max())
    assert found.ok
    assert not held(x, y, "30dB").ok
    assert held(x, y, "30dB").reason == f"{found.sqnr_db:.1f} dB where 30 dB are allowed"


def test_huge_numbers_have_an_error_too() -> None:
    x = np.array([1e300, -1e300])
    assert held(x, x * 1.01, "1dB").sqnr_db == pytest.approx(40, abs=0.01)


def test_what_should_be_zero_or_finite_is_beyond_any_budget() -> None:
    zeros, ones = np.zeros(3, np.float32), np.ones(3, np.float32)
    assert held(zeros, ones, "100%").sqnr_db == -math.inf
    assert not held(zeros, ones, "1dB").ok
    assert held(zeros, zeros + 1e-7, "100dB").ok  # rounding where the output should be zero
    assert held(ones, np.array([1, 1, np.inf], np.float32), "100%").reason.startswith("infinities")


def test_whole_numbers_have_to_be_the_same() -> None:
    assert not held(np.arange(4), np.arange(4) + 1, "100%").ok


def test_a_budget_is_held_against_all_samples_together_and_the_worst_is_told() -> None:
    generator = np.random.default_rng(0)
    loud = generator.standard_normal(1000)
    quiet, noise = loud / 300, generator.standard_normal(1000) / 1000
    alone, found = held(quiet, quiet + noise, "25dB"), held(loud, loud + noise, "25dB")
    assert not alone.ok
    both = found.pooled(alone, budget_of("25dB"))
    assert both == alone.pooled(found, budget_of("25dB"))
    assert both.ok
    signal = np.square(loud).sum() + np.square(quiet).sum()
    assert both.sqnr_db == pytest.approx(10 * np.log10(signal / (2 * np.square(noise).sum())))
    assert both.worst_db == alone.sqnr_db < 15
    assert both.scaled == pytest.approx(np.abs(noise).max() / np.abs(loud).max())
    shares = [held(one, one + noise, "1%") for one in (loud, quiet)]
    assert not shares[1].ok
    assert shares[0].pooled(shares[1], budget_of("1%")).ok
    assert not found.pooled(alone).ok  # a tolerance holds for each sample
    wrong = held(np.ones(3), np.array([1, 1, np.inf]), "25dB")
    assert found.pooled(wrong, budget_of("25dB")).reason == wrong.reason
    error = {"scaled": both.scaled, "sqnr_db": both.sqnr_db, "worst_db": both.worst_db}
    told = f"{both.sqnr_db:.1f} dB ({both.worst_db:.1f} dB the worst sample)"
    assert budget_of("25dB").over_all(**error) == told


def test_records_of_before_signal_was_summed_have_the_worse_ratio() -> None:
    good, bad = Comparison("y", ok=True), Comparison("y", ok=False, sqnr_db=3.0, cosine=0.5)
    assert (good.pooled(bad).sqnr_db, bad.pooled(good).cosine) == (3.0, 0.5)


def test_a_lossy_model_is_within_a_budget_and_never_equal(isolate: WorkerPool) -> None:
    found = verify(scaled(100), scaled(101), isolate=isolate, budget=ErrorBudget(2, "%"))
    assert (found.verdict, found.failed) == ("within", False)
    assert str(found) == "Within 2 %: 1 % of the scale at worst, on 3 random inputs."
    same = verify(scaled(1), scaled(1), isolate=isolate, budget=ErrorBudget(25, "dB"))
    assert str(same) == "Within 25 dB: no error, on 3 random inputs."


def test_a_model_beyond_its_budget_says_both(isolate: WorkerPool) -> None:
    found = verify(scaled(100), scaled(101), isolate=isolate, budget=ErrorBudget(50, "dB"))
    assert (found.verdict, found.failed) == ("exceeds", True)
    assert found.sqnr_db == pytest.approx(40, abs=0.01)
    assert str(found) == (
        "Beyond the budget of 50 dB: Output 'y': 40.0 dB where 50 dB are allowed."
    )


def test_a_missing_output_is_no_question_of_a_budget(isolate: WorkerPool) -> None:
    two = model("g (float[4] x) => (float[4] y, float[4] z) { y = Relu(x) z = Neg(x) }")
    one = model("g (float[4] x) => (float[4] y) { y = Relu(x) }")
    assert verify(two, one, isolate=isolate, budget=ErrorBudget(50, "%")).verdict == "differs"


@pytest.mark.parametrize("budget", [ErrorBudget(6, "%"), ErrorBudget(24, "dB")])
def test_the_first_step_beyond_the_budget_is_found(
    budget: ErrorBudget, isolate: WorkerPool
) -> None:
    def worse_and_worse(step: int) -> bytes:
        return scaled(100 + step)

    found = bisect(
        worse_and_worse, 20, isolate=isolate, seeds=1, tolerance=Tolerance(budget=budget)
    )
    assert found.step == 7  # 7 %, and -20 log10(0.07) = 23.1 dB
    assert found.bad is not None
    assert found.bad.verdict == "exceeds"
    assert found.good is not None
    assert found.good.verdict == "within"
