"""Times that are guessed: in which order they come, and from what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.loops.schedule import Parallel, Reorder, Schedule, Split, Vectorize
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.machine_model import USUAL
from optimizer.schedules.nest import nest_of
from optimizer.schedules.prediction import predicted

LIKE_MEASURED = {
    "loop-order": ("columns first", "rows first", "rows first, in vectors"),
    "tiling": ("two loops", "4×4 tiles"),
    "matmul": ("naive", "reordered, in vectors", "cache tiles", "register tiles"),
    "blur": ("tiled", "tiled and vectorized"),
    "harris": ("none kept", "all kept", "differences kept in tiles"),
    "conv-nhwc": ("naive", "32 filters × 7 pixels"),
}
"""Schedules in the order of the times in benchmarks/results/schedules.md, the slowest first."""


@pytest.mark.parametrize("name", LIKE_MEASURED)
def test_guessed_times_come_in_the_order_of_measured_ones(name: str) -> None:
    example = EXAMPLES[name]
    times = [
        predicted(nest_of(example.algorithm, example.schedule(order).primitives)).seconds
        for order in LIKE_MEASURED[name]
    ]
    assert times == sorted(times, reverse=True)


def test_a_loop_in_parallel_computes_as_many_times_faster_as_there_are_threads() -> None:
    algorithm = EXAMPLES["matmul-split"].algorithm
    machine = replace(USUAL, threads=4)
    serial = predicted(nest_of(algorithm, ()), machine)
    parallel = predicted(nest_of(algorithm, [Parallel("product", "i", 1)]), machine)
    assert parallel.computing == pytest.approx(serial.computing / 4, rel=0.02)


def test_five_rounds_on_four_threads_take_as_long_as_two() -> None:
    algorithm = EXAMPLES["loop-order"].make(rows=5, columns=4096)
    machine = replace(USUAL, threads=4)
    serial = predicted(nest_of(algorithm, ()), machine)
    parallel = predicted(nest_of(algorithm, [Parallel("scaled", "i")]), machine)
    assert parallel.computing == pytest.approx(serial.computing * 2 / 5)


def test_lanes_far_apart_cost_an_access_each() -> None:
    algorithm = EXAMPLES["loop-order"].algorithm
    along = Split("scaled", "j", "jo", "lane", 8), Vectorize("scaled", "lane")
    across = Split("scaled", "i", "io", "lane", 8), Vectorize("scaled", "lane")
    near, far = (predicted(nest_of(algorithm, one)).computing for one in (along, across))
    assert far > 4 * near


def test_what_fits_into_a_cache_altogether_does_not_come_from_behind_it() -> None:
    example = EXAMPLES["loop-order"]
    small = example.make(rows=8, columns=64)
    assert predicted(nest_of(small, ())).moving == 0
    assert predicted(nest_of(small, [Reorder("scaled", ("j", "i"))])).moving == 0


def test_a_schedule_without_primitives_is_guessed_like_the_nest_that_it_is() -> None:
    example = EXAMPLES["matmul"]
    found = predicted(nest_of(example.algorithm, Schedule().primitives))
    assert found.seconds == max(found.computing, found.moving) + found.looping
