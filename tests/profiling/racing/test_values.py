"""Models whose inputs numpy has no type for, and models without inputs."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from optimizer.verify.values import TYPES, array_of, bits_of, value_of
from profiling.config import RunConfig
from profiling.execution import runner
from profiling.racing.measure import RacePlan, Variant, measure
from profiling.workers import WorkerPool
from tests.lanes import slow_but
from tests.optimizer.verify.models import model

QUICK = RacePlan(runs=24, seconds=30, rounds=8, precision=0)
NAMES = ["bfloat16", "float8e4m3fn", "float8e5m2"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", slow_but(["bfloat16"], NAMES))
def test_inputs_and_outputs_that_numpy_lacks_are_timed(shared_pool: WorkerPool, name: str) -> None:
    same = model(f"g ({name}[4] x) => ({name}[4] y) {{ y = Identity(x) }}", imports='"" : 19')
    race = measure([Variant("a", same), Variant("b", same)], pool=shared_pool, plan=QUICK)
    assert [timing.error for timing in race.timings] == ["", ""]
    assert all(timing.believable and len(timing.blocks_ms) >= 8 for timing in race.timings)
    assert race.feeds[0].dtype == np.dtype(TYPES[f"tensor({name})"]).name


@pytest.mark.thorough
@pytest.mark.parametrize("name", slow_but(["int4"], ["int4", "uint4"]))
def test_half_bytes_are_fed_as_they_are_packed(shared_pool: WorkerPool, name: str) -> None:
    cast = model(f"g ({name}[5] x) => (float[5] y) {{ y = Cast<to = 1>(x) }}", imports='"" : 21')
    race = measure([Variant("a", cast)], pool=shared_pool, plan=QUICK)
    assert race.timings[0].error == ""
    assert race.timings[0].believable


@pytest.mark.thorough
def test_a_wrong_result_in_bfloat16_is_seen(shared_pool: WorkerPool) -> None:
    right = model("g (bfloat16[4] x) => (bfloat16[4] y) { y = Identity(x) }")
    wrong = model("g (bfloat16[4] x) => (bfloat16[4] y) { f = Cast<to = 1>(x) n = Neg(f) "
                  "y = Cast<to = 16>(n) }")  # fmt: skip
    race = measure([Variant("right", right), Variant("wrong", wrong)], pool=shared_pool, plan=QUICK)
    assert race.timings[1].error == ""
    assert not race.timings[1].believable


@pytest.mark.parametrize("dtype", TYPES.values(), ids=lambda dtype: dtype.name)
def test_values_come_back_as_they_went_in(dtype: np.dtype[np.generic]) -> None:
    array = np.array([[0, 1, 2], [3, 1, 0]]).astype(dtype)
    if dtype.name == "int4":
        array = np.array([[-8, -1, 7], [3, 1, 0]]).astype(ml_dtypes.int4)
    assert bits_of(array).shape == array.shape
    back = array_of(value_of(array))
    assert back.dtype == dtype
    assert back.tobytes() == array.tobytes()


@pytest.mark.thorough
def test_a_model_without_inputs_is_timed(shared_pool: WorkerPool) -> None:
    constant = model("g () => (float[2] y) { c = Constant<value: tensor = float[2] {1, 2}>() "
                     "y = Neg(c) }")  # fmt: skip
    race = measure([Variant("a", constant), Variant("b", constant)], pool=shared_pool, plan=QUICK)
    assert [timing.error for timing in race.timings] == ["", ""]
    assert race.feeds == ()
    assert all(timing.believable and timing.blocks_ms for timing in race.timings)


def test_bfloat16_lies_in_buffers_on_the_device_too(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model("g (bfloat16[4] x) => (bfloat16[4] y) { y = Identity(x) }"))
    array = np.array([1, 2, -3, 0.5]).astype(ml_dtypes.bfloat16)
    with shared_pool.measuring() as bench:
        worker = bench.worker(fresh=True)
        worker.run(runner.open_variant, path, RunConfig())
        _, outputs = worker.run(runner.first_run, {"x": array}, {"y": array}, "cpu:0")
    assert outputs["y"].tobytes() == array.tobytes()
