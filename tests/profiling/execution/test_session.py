from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from profiling.config import Option, RunConfig, options
from profiling.execution.session import SessionError
from profiling.workers import WorkerPool
from tests.profiling.execution import session_jobs
from tests.profiling.settings import from_settings

NASTY = Path(__file__).parents[2] / "nasty"
PLAIN, QUANTIZED = NASTY / "opset_22_cnn.onnx", NASTY / "qdq_conv.onnx"

# Values to try beside the default, where one is not enough to say it.
VALUES: dict[str, tuple[object, ...]] = {
    "optimizers_off": ("ConstantFolding", "ConvBNFusion+ReshapeFusion+EliminateIdentity"),
    "thread_affinities": (str(min(os.sched_getaffinity(0)) + 1),),
    "intra_threads": (0, 2),
    "folding_limit_mib": (0, 1),
    "spin_duration_us": (1, 2000),
    "dynamic_blocks": (1, 4),
    "nbits_accuracy": (0, 1, 2, 3),
}
# What an option needs beside itself.
NEEDS: dict[str, list[str]] = {
    "execution_mode": ["inter_threads=2", "memory_pattern=0"],
    "inter_threads": ["execution_mode=parallel", "memory_pattern=0"],
    "thread_affinities": ["intra_threads=2"],
    "dynamic_blocks": ["intra_threads=2"],
    "parallel_prepacking": ["intra_threads=2"],
    "spinning": ["intra_threads=2"],
    "spin_duration_us": ["intra_threads=2", "spinning=1"],
    "spin_backoff": ["intra_threads=2", "spinning=1"],
    "spin_between_runs": ["intra_threads=2", "spinning=1"],
}
ROUNDED = 0.1  # integer kernels round to steps of about this size


def values(option: Option) -> tuple[object, ...]:
    if option.name in VALUES:
        return VALUES[option.name]
    if option.choices:
        return tuple(choice for choice in option.choices if choice != option.default)
    if option.type is bool:
        return (not option.default,)
    return (int(option.default) + 1,)


def needed(option: Option) -> list[str]:
    if option.name in NEEDS:
        return NEEDS[option.name]
    return [] if option.name == "graph_optimization" else ["graph_optimization=all"]


def cases() -> list[tuple[str, RunConfig]]:
    """Every value of every option that counts on a CPU."""
    return [
        (f"{option.name}={value}", from_settings([*needed(option), f"{option.name}={value}"]))
        for option in options()
        if option.group in ("session", "cpu") and option.name != "device"
        for value in values(option)
    ]


@pytest.mark.parametrize(("name", "config"), cases(), ids=[name for name, _ in cases()])
def test_every_option_makes_a_session_that_computes_the_same(
    name: str, config: RunConfig, shared_pool: WorkerPool
) -> None:
    for model, absolute in ((PLAIN, 1e-4), (QUANTIZED, ROUNDED)):
        expected = shared_pool(session_jobs.outputs, model, RunConfig())
        found = shared_pool(session_jobs.outputs, model, config)
        if config.qdq_cleanup and model is QUANTIZED:
            continue  # it drops the clipping of quantize operators, too
        for left, right in zip(expected, found, strict=True):
            assert np.allclose(left, right, rtol=1e-3, atol=absolute), name


def with_identity(folder: Path) -> Path:
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "small",
        [value("x", TensorProto.FLOAT, [2])],
        [value("y", TensorProto.FLOAT, [2])],
    )
    path = folder / "identity.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )
    return path


def test_an_optimizer_that_is_left_out_changes_nothing(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    model = with_identity(tmp_path)
    basic = from_settings(["graph_optimization=basic"])
    without = from_settings(["optimizers_off=ReshapeFusion+EliminateIdentity"], base=basic)
    assert shared_pool(session_jobs.operators_left, model, basic) == ["Relu"]
    assert shared_pool(session_jobs.operators_left, model, without) == ["Identity", "Relu"]


@pytest.mark.skipif(not {0, 1} <= os.sched_getaffinity(0), reason="needs processors 0 and 1")
def test_a_thread_stays_on_the_processors_it_is_given(shared_pool: WorkerPool) -> None:
    for named, expected in (("1", "0"), ("2", "1")):
        config = RunConfig(intra_threads=2, thread_affinities=named)
        assert shared_pool(session_jobs.processors_of_threads, PLAIN, config) == {expected}


def test_a_processor_that_is_not_there_is_refused(shared_pool: WorkerPool) -> None:
    config = RunConfig(intra_threads=2, thread_affinities="5000")
    with pytest.raises(SessionError, match="names processor 5000, which is not ours"):
        shared_pool(session_jobs.outputs, PLAIN, config)


def with_one_large_activation(folder: Path) -> Path:
    """3 MiB, which no power of two is."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    shape = [3, 1 << 18]
    graph = helper.make_graph(
        nodes,
        "large",
        [value("x", TensorProto.FLOAT, shape)],
        [value("y", TensorProto.FLOAT, shape)],
    )
    path = folder / "large.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )
    return path


def test_an_arena_that_grows_as_requested_holds_less(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    model = with_one_large_activation(tmp_path)
    base = RunConfig(memory_pattern=False)
    exact = from_settings(["cpu_arena_growth=same_as_requested"], base=base)
    held = shared_pool.run_fresh(session_jobs.most_held_bytes, model, base)
    assert 0 < shared_pool.run_fresh(session_jobs.most_held_bytes, model, exact) < held
