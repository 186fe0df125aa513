"""Two hundred schedules drawn at random: each runs and computes what it should, or is refused."""

from __future__ import annotations

import importlib.util
from collections import Counter
from random import Random

import numpy as np
import pytest

from optimizer.loops.evaluation import evaluate
from optimizer.loops.schedule import Schedule, ScheduleError
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.excess import runnable_nest
from profiling.schedules.running import random_inputs, realized
from profiling.workers import WorkerPool
from tests.optimizer.schedules.random_schedules import random_schedule

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide"),
]

DRAWN = 200
_SEED = 16


def outcomes(pool: WorkerPool, example: Example, drawn: int) -> Counter[str]:
    """What became of so many: `runs`, or in a few words why it was refused."""
    algorithm, random = example.make(**example.small), Random(f"{_SEED} {example.id}")
    inputs = random_inputs(algorithm)
    (expected,) = evaluate(algorithm, inputs)
    found: Counter[str] = Counter()
    legal: list[Schedule] = []
    for _ in range(drawn):
        schedule = random_schedule(algorithm, random)
        try:
            runnable_nest(algorithm, schedule)
        except ScheduleError as error:
            found["refused" if error.reason else "refused without a reason"] += 1
            continue
        legal.append(schedule)
    for schedule, (array,) in zip(
        legal, pool(realized, algorithm, legal, inputs, "avx2"), strict=True
    ):
        np.testing.assert_allclose(array, expected, rtol=2e-5, atol=1e-5, err_msg=str(schedule))
        found["runs"] += 1
    return found


def test_two_hundred_random_schedules_run_and_agree_or_are_refused_with_a_reason(
    shared_pool: WorkerPool, capsys: pytest.CaptureFixture[str]
) -> None:
    total: Counter[str] = Counter()
    for number, example in enumerate(EXAMPLES.values()):
        each = (DRAWN * (number + 1)) // len(EXAMPLES) - (DRAWN * number) // len(EXAMPLES)
        found = outcomes(shared_pool, example, each)
        total += found
        with capsys.disabled():
            print(
                f"\n{example.id}: {found['runs']} run and agree, {found['refused']} refused", end=""
            )
    with capsys.disabled():
        print(f"\n{total.total()} schedules: {total['runs']} run and agree, "
              f"{total['refused']} refused")  # fmt: skip
    assert total["runs"] + total["refused"] == DRAWN
    assert total["runs"] > DRAWN / 4
