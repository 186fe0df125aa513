from __future__ import annotations

import numpy as np
import pytest

from profiling.racing.samples import contrast, summarize, undisturbed_ms, warm_after


def rounds(median: float, *, seed: int, count: int = 12, noise: float = 0.02) -> list[list[float]]:
    generator = np.random.default_rng(seed)
    return [list(median * np.exp(generator.normal(0, noise, 5))) for _ in range(count)]


def test_percentiles_of_known_numbers() -> None:
    found = summarize([float(number) for number in range(1, 102)])
    assert found is not None
    assert (found.runs, found.min_ms, found.p50_ms, found.p90_ms, found.p99_ms) == (
        101, 1, 51, 91, 100,
    )  # fmt: skip


def test_no_latencies_have_no_summary() -> None:
    assert summarize([]) is None


def test_warm_up_ends_where_the_latency_drops() -> None:
    assert warm_after([30, 29, 31, 28, 10, 10.1, 9.9, 10, 10.2, 9.8, 10, 10]) == 4


def test_steady_latencies_need_no_warm_up() -> None:
    generator = np.random.default_rng(1)
    assert warm_after(list(10 + generator.normal(0, 0.2, 40))) == 0


def test_latencies_that_rise_are_not_taken_for_warm_up() -> None:
    assert warm_after([10] * 10 + [20] * 10) == 0


def test_equal_latencies_and_few_runs_are_steady() -> None:
    assert warm_after([5.0] * 30) == 0
    assert warm_after([5.0, 1.0]) == 0


def test_a_clear_speedup_is_named_with_its_interval() -> None:
    found = contrast(rounds(13, seed=1), rounds(10, seed=2))
    assert found.verdict == "faster"
    assert found.low < 1.3 < found.high
    assert str(found).startswith("1.3")
    assert "faster, 95 % interval" in str(found)


def test_a_clear_slowdown_is_named_the_other_way_round() -> None:
    found = contrast(rounds(10, seed=1), rounds(20, seed=2))
    assert found.verdict == "slower"
    assert "× slower" in str(found)
    assert str(found).startswith(("1.9", "2.0"))


def test_equal_variants_show_no_clear_difference() -> None:
    verdicts = {
        contrast(rounds(10, seed=seed), rounds(10, seed=seed + 1000)).verdict for seed in range(5)
    }
    assert "no_clear_difference" in verdicts
    assert contrast(rounds(10, seed=3), rounds(10, seed=3)).verdict == "no_clear_difference"


def test_a_difference_below_one_percent_is_not_claimed() -> None:
    base = [[10.0] * 3 for _ in range(20)]
    assert contrast(base, [[9.95] * 3 for _ in range(20)]).verdict == "no_clear_difference"


def test_what_slows_both_down_in_a_round_cancels_out() -> None:
    drift = [1, 5, 2, 9, 1, 7, 3, 4]
    found = contrast([[12.0 * d] * 3 for d in drift], [[10.0 * d] * 3 for d in drift])
    assert found.speedup == pytest.approx(1.2)
    assert found.verdict == "faster"


def test_few_rounds_prove_nothing() -> None:
    found = contrast([[20.0]] * 3, [[10.0]] * 3)
    assert found.verdict == "no_clear_difference"
    assert str(found) == found.brief == "too few rounds to tell (3 of 6)"


def test_what_95_percent_tells_apart_and_99_do_not_is_called_probable() -> None:
    logs = [0.05, 0.1, 0.9, 1.0, 0.06, 0.08, -0.02, 0.12]
    found = contrast([[10.0 * np.exp(log)] for log in logs], [[10.0]] * len(logs))
    assert found.undecided
    assert found.verdict == "no_clear_difference"
    assert found.claim == "probably faster"
    text = f"probably faster, {found.low:.2f}× to {found.high:.2f}×; a longer race would make sure"
    assert str(found) == text
    turned = contrast([[10.0]] * len(logs), [[10.0 * np.exp(log)] for log in logs])
    assert str(turned) == text.replace("faster", "slower")
    assert turned.brief == f"probably slower ({found.low:.2f}–{found.high:.2f})"


def test_the_same_latencies_give_the_same_interval() -> None:
    base, other = rounds(11, seed=1), rounds(10, seed=2)
    assert contrast(base, other) == contrast(base, other)


def test_runs_that_others_got_in_the_way_of_do_not_count_unless_they_are_most() -> None:
    assert undisturbed_ms([10.0, 10.0, 10.0, 40.0, 90.0]) == 10
    assert undisturbed_ms([12.0]) == 12
    base = [[10.0, 10.1, 10.2, 30.0 * (1 + number % 3)] for number in range(12)]
    other = [[11.0, 11.1, 30.0, 35.0] for _ in range(12)]
    found = contrast(base, other)
    assert found.verdict == "slower"
    assert 1 / found.speedup == pytest.approx(1.1, rel=0.01)
