"""Autoschedulers and isl on the regions of a real network: right, or refused in a sentence."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pytest

from optimizer.errors import StudioError
from optimizer.fusion.algorithm import algorithm_of
from optimizer.limits import JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.loops.schedule import Schedule
from optimizer.polyhedral import proposal
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.sizes import at_sizes
from optimizer.schedules.steps import steps_of
from profiling.schedules.autoschedulers import Autoscheduler, run_autoscheduler
from profiling.schedules.isl import proposed_by_isl
from profiling.schedules.running import random_inputs, realized
from profiling.workers import WorkerPool
from studio.commands.kernels import planned_kernels
from tests.lanes import slow_but

pytestmark = pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
Scheduler = Autoscheduler | Literal["isl"]
QUICK: tuple[Scheduler, ...] = ("Mullapudi2016", "Li2018", "isl")


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Algorithm]:
    """The loops of the sample network `bert` by kernel, at the sizes that they have there."""
    planned = planned_kernels("bert", [], tmp_path_factory.mktemp("regions"))
    bodies = {one.name: (one.body, one.sizes) for one in planned.kernels}
    return {
        name: at_sizes(
            algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset), sizes
        )
        for name, (body, sizes) in bodies.items()
    }


def made(name: Scheduler, algorithm: Algorithm, pool: WorkerPool) -> Schedule | str:
    """What can be applied of the schedule that it makes; or why there is none."""
    try:
        if name == "isl":
            found = proposed_by_isl(algorithm, pool=pool)
        else:
            found = run_autoscheduler(algorithm, name, pool=pool).found.schedule
    except StudioError as error:
        return error.message
    steps = steps_of(algorithm, found)
    return Schedule(tuple(one.primitive for one in steps if one.primitive and not one.refusal))


@pytest.mark.long
@pytest.mark.parametrize("name", slow_but(["Mullapudi2016", "isl"], QUICK))
def test_a_region_is_scheduled_and_computes_the_same(
    regions: Mapping[str, Algorithm], name: Scheduler, shared_pool: WorkerPool
) -> None:
    assert len(regions) >= 6
    for kernel, algorithm in regions.items():
        schedule = made(name, algorithm, shared_pool)
        assert isinstance(schedule, Schedule), (kernel, schedule)
        assert schedule.primitives, kernel
        inputs = random_inputs(algorithm)
        (found,) = shared_pool(realized, algorithm, [schedule], inputs, "avx2")
        for output, expected in zip(found, evaluate(algorithm, inputs), strict=True):
            np.testing.assert_allclose(output, expected, rtol=2e-5, atol=1e-5, err_msg=kernel)


def slow_search(*_: object) -> None:
    """In place of isl's."""
    time.sleep(60)


def test_isl_that_needs_too_long_is_told_in_a_sentence(
    shared_pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposal, "proposed", slow_search)
    blur, limits = EXAMPLES["blur"].algorithm, JobLimits(seconds=0.2)
    with pytest.raises(StudioError, match=r"isl has no schedule for these loops within 0.2 s\."):
        proposed_by_isl(blur, pool=shared_pool, limits=limits)
