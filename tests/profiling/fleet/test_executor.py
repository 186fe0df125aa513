from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.errors import Cancelled, StudioError
from optimizer.model.loader import load_path
from profiling.config import RunConfig
from profiling.fleet.packed_variant import pack, unpack
from profiling.fleet.ray_cluster import executor
from profiling.racing.executor import LocalExecutor, RaceJob
from profiling.racing.measure import RacePlan
from profiling.racing.race import Variant
from profiling.workers import WorkerPool
from tests.profiling.fleet.models import relu, with_weights_beside

SHORT = RacePlan(runs=12, seconds=1.0)


def test_jobs_run_one_after_the_other_and_a_failing_one_does_not_stop_the_next(
    shared_pool: WorkerPool,
) -> None:
    broken = RaceJob((Variant("broken", b"no model"),), SHORT)
    sound = RaceJob((Variant("a", relu()), Variant("b", relu())), SHORT)
    fractions: list[float] = []
    outcomes = LocalExecutor(shared_pool).run(
        [broken, sound], progress=lambda _, fraction: fractions.append(fraction)
    )
    assert outcomes[0].race is None
    assert outcomes[0].error
    assert outcomes[1].race is not None
    assert [timing.label for timing in outcomes[1].race.timings] == ["a", "b"]
    assert fractions == sorted(fractions)


def test_cancelling_ends_all_jobs(shared_pool: WorkerPool) -> None:
    job = RaceJob((Variant("a", relu()),), SHORT)
    with pytest.raises(Cancelled):
        LocalExecutor(shared_pool).run([job, job], cancelled=lambda: True)


def test_a_job_needs_a_gpu_if_a_variant_does() -> None:
    on_cpu = Variant("cpu", relu())
    on_gpu = Variant("gpu", relu(), RunConfig(device="cuda"))
    assert RaceJob((on_cpu,), SHORT).needed_gpus == 0
    assert RaceJob((on_cpu, on_gpu), SHORT).needed_gpus == 1
    assert RaceJob((on_cpu,), SHORT, gpus=1).needed_gpus == 1


def test_weights_beside_the_model_travel_with_it(tmp_path: Path) -> None:
    source = with_weights_beside(tmp_path / "there")
    packed = pack([Variant("one", source)])
    (tmp_path / "here").mkdir()
    (arrived,) = unpack(packed, tmp_path / "here", device_id=None)
    assert isinstance(arrived.model, Path)
    before, after = (load_path(path).ir.graph.initializers["w"] for path in (source, arrived.model))
    assert before.const_value is not None
    assert after.const_value is not None
    np.testing.assert_array_equal(before.const_value.numpy(), after.const_value.numpy())


def test_a_gpu_has_the_number_that_the_node_gives_it(tmp_path: Path) -> None:
    there = Variant("gpu", relu(), RunConfig(device="cuda", device_id=5))
    (arrived,) = unpack(pack([there]), tmp_path, device_id=0)
    assert arrived.config.device_id == 0


def test_weights_outside_the_models_folder_are_refused(tmp_path: Path) -> None:
    source = with_weights_beside(tmp_path / "there")
    (tmp_path / "there" / "w.data").rename(tmp_path / "w.data")
    model = ir.load(source)
    model.graph.initializers["w"].const_value = ir.ExternalTensor(
        "../w.data", 0, None, ir.DataType.FLOAT, shape=ir.Shape([2]), name="w", base_dir=tmp_path
    )
    moved = tmp_path / "there" / "moved.onnx"
    moved.write_bytes(ir.to_proto(model).SerializeToString())
    with pytest.raises(StudioError, match="outside the model's folder"):
        pack([Variant("one", moved)])


def test_without_an_address_races_stay_here(
    monkeypatch: pytest.MonkeyPatch, shared_pool: WorkerPool
) -> None:
    monkeypatch.delenv("PASSLENS_RAY_ADDRESS", raising=False)
    assert isinstance(executor(shared_pool), LocalExecutor)
