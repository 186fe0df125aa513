"""The CPU time of jobs, added up on the asking side."""

from __future__ import annotations

import time

import pytest

from optimizer.errors import StudioError
from optimizer.isolation import Metered
from profiling.workers import default_pool

BUSY_S = 0.05


def busy(answer: int) -> int:
    began = time.process_time()
    while time.process_time() - began < BUSY_S:
        pass
    return answer


def busy_in_vain() -> int:
    busy(0)
    raise StudioError("It gave up.")


def test_the_cpu_time_of_jobs_is_added_up_that_of_failed_ones_too() -> None:
    metered = Metered(default_pool())
    assert metered(busy, 7) == 7
    assert BUSY_S <= metered.seconds < 10 * BUSY_S
    with pytest.raises(StudioError, match="gave up"):
        metered(busy_in_vain)
    assert metered.seconds >= 2 * BUSY_S
