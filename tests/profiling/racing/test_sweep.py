from __future__ import annotations

import json

import pytest

from optimizer.errors import StudioError
from optimizer.verify.feeds import Input
from profiling.racing.dimensions import free_dimensions, inputs_of
from profiling.racing.plan import RacePlan
from profiling.racing.race import Variant
from profiling.racing.sweep import SWEEP, Sweep, sweep
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model, scaled

QUICK = RacePlan(runs=24, seconds=30, rounds=8, precision=0)
FIXED = model("g (float[1,3] x) => (float[1,3] y) { y = Neg(x) }")
PICKY = model("""
g (float[batch,4] x) => (float[4,4] y) {
    shape = Constant<value: tensor = int64[2] {4, 4}>()
    y = Reshape(x, shape)
}
""")


@pytest.mark.thorough
def test_variants_are_raced_at_every_size(shared_pool: WorkerPool) -> None:
    seen: list[Sweep] = []
    fractions: list[float] = []
    found = sweep(
        [Variant("a", scaled(2)), Variant("b", scaled(2))],
        dimension="batch",
        sizes=[1, 64],
        pool=shared_pool,
        plan=QUICK,
        progress=lambda _, fraction: fractions.append(fraction),
        observe=seen.append,
    )
    assert [point.size for point in found.points] == [1, 64]
    for point in found.points:
        assert point.race is not None
        assert point.race.feeds[0].shape == (point.size, 4)
        latency_ms = point.latency_ms("b")
        assert latency_ms is not None
        assert point.throughput("b") == pytest.approx(1000 * point.size / latency_ms)
    assert fractions == sorted(fractions)
    assert {len(one.points) for one in seen} <= {1, 2}
    data = json.loads(json.dumps(SWEEP.to_json(found), allow_nan=False))
    assert SWEEP.from_json(data) == found


@pytest.mark.thorough
def test_a_size_that_does_not_run_says_why_and_the_others_go_on(shared_pool: WorkerPool) -> None:
    found = sweep(
        [Variant("picky", PICKY)], dimension="batch", sizes=[3, 4], pool=shared_pool, plan=QUICK
    )
    first, second = found.points
    assert first.race is None
    assert first.error
    assert first.throughput("picky") is None
    assert second.throughput("picky")
    assert SWEEP.from_json(SWEEP.to_json(found)) == found


def test_a_model_with_fixed_sizes_cannot_be_swept_and_says_what_to_do(
    shared_pool: WorkerPool,
) -> None:
    with pytest.raises(StudioError, match=r"fixed in this file \('x' is 1×3\).*export the model"):
        sweep([Variant("a", FIXED)], dimension="batch", sizes=[1], pool=shared_pool)


def test_an_unknown_dimension_is_answered_with_the_known_ones(shared_pool: WorkerPool) -> None:
    with pytest.raises(StudioError, match="no free dimension 'length'; this model has 'batch'"):
        sweep([Variant("a", scaled(1))], dimension="length", sizes=[1], pool=shared_pool)


@pytest.mark.parametrize("sizes", [[], [0], [2, 2], list(range(1, 40))])
def test_sizes_that_make_no_sense_are_refused(shared_pool: WorkerPool, sizes: list[int]) -> None:
    with pytest.raises(StudioError, match="sizes"):
        sweep([Variant("a", scaled(1))], dimension="batch", sizes=sizes, pool=shared_pool)


def test_free_dimensions_are_the_names_in_the_shapes() -> None:
    inputs = [
        Input("ids", "tensor(int64)", ("batch", "length")),
        Input("mask", "tensor(int64)", ("batch", "past + length")),
        Input("pixels", "tensor(float)", (1, None, 224)),
    ]
    assert free_dimensions(inputs) == ("batch", "length", "past")


def test_weights_that_are_listed_as_inputs_are_none(shared_pool: WorkerPool) -> None:
    listed = model("g (float[n] x, float[1] w = {1}) => (float[n] y) { y = Add(x, w) }")
    assert inputs_of(listed, shared_pool) == (Input("x", "tensor(float)", ("n",)),)
