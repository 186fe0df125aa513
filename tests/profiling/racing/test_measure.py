from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from optimizer.errors import Cancelled, StudioError
from profiling.config import RunConfig
from profiling.execution import runner
from profiling.execution.availability import availability
from profiling.racing.measure import RacePlan, Variant, measure
from profiling.racing.race import Race
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import DIVISION, model, scaled
from tests.profiling.racing.own_workers import killing

pytestmark = pytest.mark.long

QUICK = RacePlan(runs=24, seconds=30, rounds=8, precision=0)


def test_variants_are_measured_in_interleaved_rounds_with_separate_phases(
    shared_pool: WorkerPool,
) -> None:
    variants = [
        Variant("source", scaled(2)),
        Variant("optimized by the runtime", scaled(2), RunConfig(graph_optimization="all")),
    ]
    race = measure(variants, pool=shared_pool, plan=QUICK)
    for timing in race.timings:
        assert timing.error == ""
        assert timing.believable
        assert timing.phases is not None
        assert timing.phases.import_ms > 0
        assert timing.phases.create_ms > 0
        assert timing.phases.first_ms > 0
        assert timing.phases.warm_up_ms
        assert len(timing.latencies_ms) >= QUICK.runs
        assert timing.providers == ("CPUExecutionProvider",)
        assert timing.peak_bytes > 0
    assert len({len(timing.blocks_ms) for timing in race.timings}) == 1
    assert race.verdict("source") == "the baseline"
    found = race.contrast("optimized by the runtime")
    assert found is not None
    assert found.rounds >= QUICK.rounds
    assert found.low < found.speedup < found.high
    assert race.verdict("optimized by the runtime") == str(found)
    assert race.feeds[0].name == "x"
    assert race.machine.cores > 0
    quiet = replace(race, machine=replace(race.machine, cores=4, load=0.5))
    busy = replace(race, machine=replace(race.machine, cores=4, load=9.25))
    assert quiet.remarks == ()
    assert "load 9.2 on 4 cores" in busy.remarks[0]


def test_a_graph_that_the_runtime_fuses_to_slow_kernels_is_told_from_one_without(
    shared_pool: WorkerPool,
) -> None:
    norm = model(
        """g (float[1,4,8] x, float[1,4,8] z) => (float[1,4,8] y)
        <float[8] w = {1, 1, 1, 1, 1, 1, 1, 1}, float[8] b = {0, 0, 0, 0, 0, 0, 0, 0}> {
            s = Add(x, z)
            y = LayerNormalization(s, w, b)
        }"""
    )
    fused = RunConfig(graph_optimization="all")
    left = RunConfig(graph_optimization="all", optimizers_off="SkipLayerNormFusion")
    variants = [Variant("fused", norm, fused), Variant("left", norm, left)]
    race = measure(variants, pool=shared_pool, plan=replace(QUICK, runs=1, rounds=1))
    assert [timing.written_slow for timing in race.timings] == [{"SkipLayerNormalization": 1}, {}]
    assert "'fused': ONNX Runtime's own rewrites put 1 SkipLayerNormalization" in race.remarks[-1]


def test_a_variant_that_computes_something_else_is_not_believed(shared_pool: WorkerPool) -> None:
    race = measure(
        [Variant("right", scaled(2)), Variant("wrong", scaled(3))], pool=shared_pool, plan=QUICK
    )
    assert not race.timings[1].believable
    assert "wrong result" in race.verdict("wrong")


def test_a_variant_that_crashes_leaves_the_others_their_times(shared_pool: WorkerPool) -> None:
    fine = model("g (int32[1] x) => (int32[1] y) { y = Identity(x) }")
    race = measure(
        [Variant("fine", fine), Variant("crashes", model(DIVISION)), Variant("also fine", fine)],
        pool=shared_pool,
        plan=QUICK,
    )
    assert "SIGFPE" in race.timings[1].error
    assert [timing.believable for timing in race.timings] == [True, False, True]
    assert race.contrast("crashes") is None
    assert race.contrast("also fine") is not None


def test_a_worker_that_dies_in_the_middle_keeps_the_rounds_it_ran(shared_pool: WorkerPool) -> None:
    race = measure(
        [Variant("lives", scaled(2)), Variant("dies", scaled(2))],
        pool=shared_pool,
        plan=QUICK,
        progress=killing("round 3", 1),
    )
    assert race.timings[1].error
    assert len(race.timings[1].blocks_ms) == 2
    assert len(race.timings[0].latencies_ms) >= QUICK.runs


def test_a_variant_for_a_gpu_that_is_not_there_is_an_error_and_not_a_cpu_time(
    shared_pool: WorkerPool,
) -> None:
    if availability(shared_pool)["cuda"].ok:
        pytest.skip("there is a GPU")
    race = measure(
        [Variant("cpu", scaled(2)), Variant("cuda", scaled(2), RunConfig(device="cuda"))],
        pool=shared_pool,
        plan=QUICK,
    )
    assert "CUDAExecutionProvider" in race.timings[1].error
    assert race.timings[1].blocks_ms == ()


def test_a_group_that_is_off_says_why(shared_pool: WorkerPool) -> None:
    groups = availability(shared_pool)
    assert groups["session"].ok
    assert groups["cuda"].ok or groups["cuda"].reason.startswith(
        "CUDAExecutionProvider is not available: "
    )


def test_equal_labels_are_refused(shared_pool: WorkerPool) -> None:
    twins = [Variant("a", scaled(1)), Variant("a", scaled(1))]
    with pytest.raises(StudioError, match="labels"):
        measure(twins, pool=shared_pool)


def test_a_race_can_be_cancelled(shared_pool: WorkerPool) -> None:
    seen: list[str] = []

    def on_progress(text: str, _fraction: float) -> None:
        seen.append(text)

    with pytest.raises(Cancelled):
        measure(
            [Variant("a", scaled(1))],
            pool=shared_pool,
            plan=QUICK,
            progress=on_progress,
            cancelled=lambda: "round 2" in seen,
        )


def test_a_variant_without_one_of_the_outputs_is_not_believed(shared_pool: WorkerPool) -> None:
    two = model("g (float[4] x) => (float[4] y, float[4] z) { y = Relu(x) z = Neg(x) }")
    one = model("g (float[4] x) => (float[4] y) { y = Relu(x) }")
    race = measure([Variant("two", two), Variant("one", one)], pool=shared_pool, plan=QUICK)
    assert not race.timings[1].believable
    assert "missing" in race.verdict("one")


def test_runs_from_device_to_device_give_the_same_outputs(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(scaled(3))
    inputs = {"x": np.arange(8, dtype=np.float32).reshape(2, 4)}
    with shared_pool.measuring() as bench:
        worker = bench.worker(fresh=True)
        worker.run(runner.open_variant, path, RunConfig())
        buffers = {"y": np.zeros((2, 4), np.float32)}
        _, outputs = worker.run(runner.first_run, inputs, buffers, "cpu:0")
        latencies = worker.run(runner.run_block, 3)
    np.testing.assert_array_equal(outputs["y"], inputs["x"] * 3)
    assert len(latencies) == 3


def test_a_listener_hears_of_the_race_while_it_runs(shared_pool: WorkerPool) -> None:
    seen: list[Race] = []
    fractions: list[float] = []
    race = measure(
        [Variant("a", scaled(1)), Variant("b", scaled(1))],
        pool=shared_pool,
        plan=RacePlan(runs=24, seconds=2, precision=0.0001),
        progress=lambda _, fraction: fractions.append(fraction),
        observe=seen.append,
    )
    counts = [sum(len(timing.blocks_ms) for timing in one.timings) for one in seen]
    assert counts == sorted(counts)
    assert 0 < counts[-1] <= sum(len(timing.blocks_ms) for timing in race.timings)
    assert len(seen) <= 2 * race.seconds + 1
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] < 1


def test_the_parts_of_a_variants_wall_time_add_up_to_it(shared_pool: WorkerPool) -> None:
    variants = [Variant(label, scaled(2)) for label in ("a", "b", "c")]
    race = measure(variants, pool=shared_pool, plan=QUICK)
    for timing in race.timings:
        assert timing.phases is not None
        parts = timing.parts_ms
        assert all(value > 0 for value in parts.values())
        assert sum(parts.values()) == pytest.approx(timing.phases.wall_ms, rel=0.02)
        assert timing.phases.wall_ms <= 1000 * race.seconds
    # What one has waited for is what the others spent: their turns, measured by themselves.
    own = [
        sum(value for part, value in timing.parts_ms.items() if part != "waiting")
        for timing in race.timings
    ]
    last = race.timings[-1].parts_ms
    assert last["waiting"] < sum(own[:-1])
