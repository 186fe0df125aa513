from __future__ import annotations

import pytest

from optimizer.verify import bisect
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import DIVISION, model, scaled


@pytest.mark.parametrize("culprit", [1, 2, 7, 31, 32])
def test_the_first_step_that_differs_is_found_in_logarithmic_time(
    isolate: WorkerPool, culprit: int
) -> None:
    asked: list[int] = []

    def materialize(step: int) -> bytes:
        asked.append(step)
        return scaled(2 if step < culprit else 3)

    found = bisect(materialize, 32, isolate=isolate, seeds=1)
    assert found.step == culprit
    assert found.bad is not None
    assert found.bad.scaled == pytest.approx(0.5, rel=1e-5)
    assert culprit == 1 or (found.good is not None and found.good.verdict == "equal")
    assert asked[0] == 0
    assert len(asked) <= 7


def test_no_step_is_named_when_the_last_one_is_equal(isolate: WorkerPool) -> None:
    found = bisect(lambda _: scaled(2), 100, isolate=isolate, seeds=1)
    assert (found.step, list(found.checks)) == (None, [100])
    assert found.good is not None


def test_a_trace_without_steps_has_no_culprit(isolate: WorkerPool) -> None:
    assert bisect(lambda _: scaled(2), 0, isolate=isolate, seeds=1).step is None


def test_a_source_that_does_not_run_ends_the_search_with_the_reason(isolate: WorkerPool) -> None:
    found = bisect(lambda _: model(DIVISION), 4, isolate=isolate, seeds=1)
    assert found.step is None
    assert "SIGFPE" in found.reason


def test_progress_names_the_step_and_never_goes_back(isolate: WorkerPool) -> None:
    seen: list[tuple[str, float]] = []
    bisect(
        lambda step: scaled(2 if step < 3 else 3),
        8,
        isolate=isolate,
        seeds=1,
        progress=lambda text, fraction: seen.append((text, fraction)),
    )
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert max(fractions) <= 1
    assert seen[0][0].startswith("source, ")
    assert any(text.startswith("step 8, ") for text, _ in seen)
