"""Races without a clock."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from optimizer.verify import Comparison
from profiling.config import RunConfig
from profiling.machine import this_machine
from profiling.racing.race import Race, Timing

OFTEN = 24


def made_race(latencies: Mapping[str, float], *, wrong: str = "") -> Race:
    """A race with a little noise of its own, without a clock."""
    generator = np.random.default_rng(0)
    timings: list[Timing] = []
    for label, latency in latencies.items():
        blocks = tuple(
            tuple(latency * (1 + 0.004 * generator.standard_normal(3))) for _ in range(OFTEN)
        )
        far = 0.02 if label == wrong else 1e-7
        output = Comparison("result", ok=True, max_abs=far, scale=1.0, scaled=far)
        timings.append(Timing(label, RunConfig(), blocks_ms=blocks, outputs=(output,)))
    return Race(tuple(timings), (), True, this_machine(), 0.0, "2026-01-01T00:00:00+00:00", 1.0)
