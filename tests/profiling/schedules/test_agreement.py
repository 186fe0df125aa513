"""Our nests, refusals and counts against Halide's."""

from __future__ import annotations

import importlib.util
from collections import Counter
from operator import attrgetter
from random import Random

import numpy as np
import pytest

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.loops.schedule import Schedule, ScheduleError
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.locality import LINE_BYTES, Locality
from optimizer.schedules.nest import Nest
from optimizer.schedules.steps import checked_nest
from optimizer.schedules.work import Work
from profiling.schedules.counting import counted
from profiling.schedules.running import random_inputs, realized
from profiling.workers import WorkerPool
from tests.lanes import slow_but
from tests.optimizer.schedules.random_schedules import random_schedule
from tests.profiling.schedules.caches import moved_bytes
from tests.profiling.schedules.halide_nests import difference, halide_tree, own_tree, printed

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide"),
    pytest.mark.long,
]

_DRAWN = 10
_COUNTED = ("tail", "blur", "conv-nchw")  # a loop that is cut short, a window, a sum
_STRICTER = (
    "go past its",
    "in another order",
    "of its window adds",
    "go past what is needed",
    "parts of one loop",
)
"""What Halide takes and we refuse: it writes past an output or before its start, lets a loop of a
sum pass others that are not named, and reads past an input where a loop is rounded up or shifted
(it says so when it runs, if it was compiled with checks)."""


def own(algorithm: Algorithm, schedule: Schedule) -> Nest | ScheduleError:
    try:
        return checked_nest(algorithm, schedule)
    except ScheduleError as error:
        return error


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda one: one.id)
def test_nests_are_those_that_halide_prints(shared_pool: WorkerPool, example: Example) -> None:
    algorithm = example.make(**example.small)
    random = Random(example.id)
    schedules = [one.schedule for one in example.schedules]
    schedules += [random_schedule(algorithm, random, most=6) for _ in range(_DRAWN)]
    outcomes: Counter[str] = Counter()
    for schedule, (text, index) in zip(
        schedules, shared_pool(printed, algorithm, schedules), strict=True
    ):
        nest = own(algorithm, schedule)
        if isinstance(nest, ScheduleError):
            stricter = any(words in nest.reason for words in _STRICTER)
            assert stricter or nest.index == index, (nest, index, text, schedule)
            outcomes["refused"] += 1
            continue
        assert index is None, (text, schedule)
        assert difference(halide_tree(text), own_tree(nest.nodes)) == "", (text, schedule)
        outcomes["agree"] += 1
    assert outcomes["agree"] >= len(example.schedules)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda one: one.id)
def test_schedules_of_examples_compute_what_numpy_does(
    shared_pool: WorkerPool, example: Example
) -> None:
    algorithm = example.make(**example.small)
    inputs = random_inputs(algorithm)
    (expected,) = evaluate(algorithm, inputs)
    schedules = [one.schedule for one in example.schedules]
    for (found,) in shared_pool(realized, algorithm, schedules, inputs, "avx2"):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("example", slow_but(_COUNTED, EXAMPLES.values(), attrgetter("id")))
def test_elements_are_computed_as_often_as_the_nest_says(
    shared_pool: WorkerPool, example: Example
) -> None:
    algorithm = example.make(**example.small)
    schedules = [one.schedule for one in example.schedules]
    for schedule, counts in zip(
        schedules, shared_pool(counted, algorithm, schedules, "avx2"), strict=True
    ):
        regions = checked_nest(algorithm, schedule).regions
        stores: Counter[str] = Counter()
        for stage in regions.placed.stages():
            stores[stage.stage.func] += round(regions.executions(stage))
        assert stores == counts.stores


@pytest.mark.parametrize("example", slow_but(_COUNTED, EXAMPLES.values(), attrgetter("id")))
def test_elements_are_read_as_often_as_the_meters_say(
    shared_pool: WorkerPool, example: Example
) -> None:
    algorithm = example.make(**example.small)
    first = example.schedules[0].schedule
    (counts,) = shared_pool(counted, algorithm, [first], "avx2")
    work = Work(checked_nest(algorithm, first).regions)
    tensors = [one.name for one in algorithm.inputs]
    tensors += [name for name in work.funcs if not work.is_inlined(name)]
    assert {name: work.loads(name) for name in tensors if work.loads(name)} == counts.loads


def test_three_nests_write_three_tensors_and_one_nest_writes_one(shared_pool: WorkerPool) -> None:
    example = EXAMPLES["three-nests"]
    algorithm = example.make(rows=12, columns=20, depth=8)
    schedules = [one.schedule for one in example.schedules]
    three, one = shared_pool(counted, algorithm, schedules, "avx2")
    elements, gathered = 12 * 20, 12 * 20 * (8 + 1)
    assert three.stores == {"product": gathered, "biased": elements, "relu": elements}
    assert three.loads["product"] + three.loads["biased"] == gathered - elements + 2 * elements
    assert three.memories["product"] == three.memories["biased"] == 1
    # One nest gathers in one element that it has again and again, and writes nothing else.
    assert one.stores == {"product": gathered, "relu": elements}
    assert one.memories["product"] == elements


CACHES = {
    ("loop-order", "rows first"): (32, 1024),
    ("loop-order", "columns first"): (32, 1024),
    ("tiling", "two loops"): (32, 1 << 20),
    ("tiling", "4×4 tiles"): (32, 1 << 20),
    ("matmul-split", "three loops"): (32, 512),
    ("matmul", "naive"): (64, 512),
    ("blur", "breadth-first"): (32, 256),
    ("blur", "tiled"): (64, 256),
}
"""Cache lines: so few that a tensor does not fit, and so many that a round does."""


@pytest.mark.parametrize(("example", "schedule"), CACHES)
def test_bytes_moved_are_those_that_a_cache_of_this_size_moves(
    shared_pool: WorkerPool, example: str, schedule: str
) -> None:
    one = EXAMPLES[example]
    algorithm, order = one.make(**one.small), one.schedule(schedule)
    locality = Work(checked_nest(algorithm, order).regions)
    for lines in CACHES[example, schedule]:
        expected = shared_pool(moved_bytes, algorithm, order, lines)
        found = Locality(locality.regions, locality).moved(lines * LINE_BYTES)
        assert found == pytest.approx(expected, rel=0.05), lines
