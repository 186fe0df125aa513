from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from optimizer.errors import OutOfMemory, WorkerTimeout
from optimizer.limits import MIB, JobLimits
from profiling.racing.measure import RacePlan, Variant, measure
from profiling.racing.race import Race
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import DIVISION, model
from tests.profiling.racing.own_workers import killing

pytestmark = pytest.mark.long

QUICK = RacePlan(runs=24, seconds=30, rounds=8, precision=0)
SHORT = RacePlan(runs=24, seconds=30, rounds=8, precision=0, limits=JobLimits(seconds=4))
SMALL = RacePlan(
    runs=24, seconds=30, rounds=8, precision=0,
    limits=JobLimits(seconds=60, memory_bytes=1024 * MIB, file_bytes=MIB),
)  # fmt: skip

FINE = model("g (float[4] x) => (float[4] y) { y = Identity(x) }")


def endless() -> bytes:
    """Counts to 2^62 before it answers."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Neg", ["state"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [4]),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [4]),
        ],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["trips", "yes", "x"], ["y"], body=body)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
        [
            numpy_helper.from_array(np.array(2**62, np.int64), "trips"),
            numpy_helper.from_array(np.array(True), "yes"),
        ],
    )
    return helper.make_model(
        graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)]
    ).SerializeToString()


def hungry(gib: int) -> bytes:
    """Fills that much memory to answer with its input."""
    return model(f"""
g (float[4] x) => (float[4] y) {{
    size = Constant<value: tensor = int64[1] {{{gib << 28}}}>()
    largest = ReduceMax<keepdims = 1>(x)
    copies = Expand(largest, size)
    sum = ReduceSum<keepdims = 1>(copies)
    zero = Sub(sum, sum)
    y = Add(x, zero)
}}
""")


def large(mib: int) -> bytes:
    """The same as `FINE`, with so many weights that nobody uses."""
    found = onnx.load_from_string(FINE)
    found.graph.initializer.append(numpy_helper.from_array(np.ones(mib << 18, np.float32), "w"))
    return found.SerializeToString()


def one_sentence_about(race: Race, label: str, *words: str) -> None:
    """The variant's error says these things; the others have all their times."""
    for timing in race.timings:
        if timing.label == label:
            assert timing.error.count("\n") == 0
            assert [word for word in words if word not in timing.error] == []
        else:
            assert timing.believable
            assert len(timing.blocks_ms) >= 8


@pytest.mark.thorough
@pytest.mark.alone
@pytest.mark.parametrize("position", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_model_that_never_ends_is_stopped_and_the_others_are_timed(
    shared_pool: WorkerPool, position: int
) -> None:
    variants = [Variant("fine", FINE), Variant("also fine", FINE)]
    variants.insert(position, Variant("endless", endless()))
    race = measure(variants, pool=shared_pool, plan=SHORT)
    one_sentence_about(race, "endless", "Stopped after 4 s (the limit)", "raise the time limit")
    assert race.baseline.label == "fine"
    assert race.contrast("also fine") is not None


def test_a_race_of_nothing_but_a_model_that_never_ends_is_an_error(
    shared_pool: WorkerPool,
) -> None:
    plan = replace(SHORT, limits=JobLimits(seconds=1))
    with pytest.raises(WorkerTimeout, match="Stopped after 1 s"):
        measure([Variant("endless", endless())], pool=shared_pool, plan=plan)


@pytest.mark.thorough
@pytest.mark.alone
def test_the_whole_race_ends_when_its_time_is_up(shared_pool: WorkerPool) -> None:
    plan = RacePlan(runs=24, seconds=600, precision=0.000001, overall_seconds=10)
    race = measure([Variant("a", FINE), Variant("b", FINE)], pool=shared_pool, plan=plan)
    assert race.seconds < plan.seconds
    assert race.timings[0].blocks_ms


@pytest.mark.thorough
@pytest.mark.parametrize("gib", [4, pytest.param(4096, marks=pytest.mark.slow)])
def test_a_model_that_needs_more_memory_than_allowed_is_stopped_and_the_other_is_timed(
    shared_pool: WorkerPool, gib: int
) -> None:
    race = measure(
        [Variant("fine", FINE), Variant("hungry", hungry(gib))], pool=shared_pool, plan=SMALL
    )
    one_sentence_about(race, "hungry", "Out of memory (limit 1 GiB)", "smaller sizes")
    assert race.timings[1].phases is not None
    assert race.timings[1].phases.create_ms > 0


@pytest.mark.thorough
def test_a_first_model_that_needs_too_much_memory_leaves_the_race_to_the_others(
    shared_pool: WorkerPool,
) -> None:
    variants = [Variant("hungry", hungry(4)), Variant("fine", FINE), Variant("also fine", FINE)]
    race = measure(variants, pool=shared_pool, plan=SMALL)
    one_sentence_about(race, "hungry", "Out of memory (limit 1 GiB)")
    assert "(against 'fine')" in race.verdict("also fine")
    assert race.verdict("fine") == "the baseline instead"
    assert any("'hungry' was not measured" in remark for remark in race.remarks)


@pytest.mark.thorough
@pytest.mark.parametrize("position", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_variant_that_fills_the_file_quota_of_its_worker_says_so(
    shared_pool: WorkerPool, position: int
) -> None:
    variants = [Variant("fine", FINE), Variant("also fine", FINE)]
    variants.insert(position, Variant("large", large(2)))
    race = measure(variants, pool=shared_pool, plan=SMALL)
    one_sentence_about(race, "large", "MiB", "limit")
    assert race.baseline.label == "fine"


@pytest.mark.thorough
def test_a_baseline_that_is_killed_keeps_its_rounds_and_the_next_takes_its_place(
    shared_pool: WorkerPool,
) -> None:
    seen: list[Race] = []
    race = measure(
        [Variant("dies", FINE), Variant("lives", FINE), Variant("lives too", FINE)],
        pool=shared_pool,
        plan=QUICK,
        progress=killing("round 4", 0),
        observe=seen.append,
    )
    one_sentence_about(race, "dies", "ended from outside")
    assert len(race.timings[0].blocks_ms) == 3
    assert race.timings[0].phases is not None
    assert race.baseline.label == "lives"
    assert "not measured to the end" in race.verdict("dies")
    assert race.verdict("lives too").endswith("(against 'lives')")


@pytest.mark.slow
def test_a_worker_that_dies_of_its_model_names_the_signal(shared_pool: WorkerPool) -> None:
    fine = model("g (int32[1] x) => (int32[1] y) { y = Identity(x) }")
    race = measure(
        [Variant("crashes", model(DIVISION)), Variant("fine", fine)], pool=shared_pool, plan=QUICK
    )
    one_sentence_about(race, "crashes", "SIGFPE")


@pytest.mark.slow
def test_all_that_die_leave_a_race_without_a_winner(shared_pool: WorkerPool) -> None:
    race = measure(
        [Variant("a", FINE), Variant("b", FINE)],
        pool=shared_pool,
        plan=QUICK,
        progress=killing("round 3", 0, 1),
    )
    assert all(timing.error and len(timing.blocks_ms) == 2 for timing in race.timings)


def test_a_model_that_is_too_large_for_memory_alone_is_an_error(shared_pool: WorkerPool) -> None:
    with pytest.raises(OutOfMemory, match="limit 1 GiB"):
        measure([Variant("hungry", hungry(4))], pool=shared_pool, plan=SMALL)
