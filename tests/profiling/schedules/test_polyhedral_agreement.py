"""isl, our own rules and Halide on the same questions, and the order of points on both sides."""

from __future__ import annotations

import importlib.util

import pytest

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Parallel, Primitive, Schedule
from optimizer.polyhedral.picture import polyhedral_view
from optimizer.polyhedral.shrinking import shrunk
from optimizer.schedules.examples import EXAMPLES
from profiling.schedules.counting import STORE, traced
from profiling.workers import WorkerPool
from tests.profiling.schedules.polyhedral_agreement import answers

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide"),
    pytest.mark.long,
]


def test_isl_never_calls_legal_what_changes_results_nor_differs_but_in_what_is_known(
    shared_pool: WorkerPool,
) -> None:
    found = answers(shared_pool, 64, seed=7)
    assert [one for one in found if one.difference == "unknown"] == []
    assert not any(one.own and not one.isl for one in found)
    assert any(not one.isl for one in found)
    assert any(one.isl for one in found)


ORDERS = {
    ("tiling", "4×4 tiles"): "symmetric",
    ("loop-order", "columns first"): "scaled",
    ("blur", "breadth-first"): "blur_y",
    ("blur", "sliding window"): "blur_y",
    ("blur", "tiled"): "blur_y",
    ("blur", "sliding in tiles"): "blur_y",
}


@pytest.mark.parametrize(("example", "name"), ORDERS)
def test_points_run_in_the_order_in_which_halide_stores_them(
    shared_pool: WorkerPool, example: str, name: str
) -> None:
    one = EXAMPLES[example]
    order = [p for p in one.schedule(name).primitives if not isinstance(p, Parallel)]
    view = polyhedral_view(one.algorithm, order)
    drawn = [(view.stages[tick.stage].name, cell) for tick in view.ticks for cell in tick.cells]
    small, primitives = shrunk(one.algorithm, order)
    assert drawn == shared_pool(stored, small, primitives)


def stored(algorithm: Algorithm, order: tuple[Primitive, ...]) -> list[tuple[str, tuple[int, int]]]:
    """What Halide stores, one after another; for a worker."""
    accesses = traced(algorithm, Schedule(order), "avx2")
    return [(one.tensor, (one.place[1], one.place[0])) for one in accesses if one.event == STORE]
