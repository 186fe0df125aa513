"""What is said on a machine without a GPU, by the real packages; and binding on the CPU."""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np
import pytest
from onnx import parser

from optimizer.errors import RunError
from profiling.config import RunConfig
from profiling.cuda import activity, device, stages_torch
from profiling.cuda.capture import CapturePlan, capture_side, recorded, steady
from profiling.cuda.device import throttle_reasons
from profiling.cuda.stages_torch import TorchStages
from profiling.execution.binding import BoundRun
from profiling.workers import WorkerPool
from tests.profiling.cuda import missing
from tests.profiling.cuda.samples import RECORDED, Recorded

MODEL = (
    '<ir_version: 8, opset_import: ["": 17]> g (float[2,3] x) => (float[2,3] z) { z = Relu (x) }'
)


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


without_driver = pytest.mark.skipif(_has_driver(), reason="there is an NVIDIA driver here")


@without_driver
def test_cupti_says_that_there_is_no_driver(shared_pool: WorkerPool) -> None:
    pytest.importorskip("cupti", reason="CUPTI's package is not installed")
    assert shared_pool.run_fresh(missing.cupti) == activity.NO_DRIVER


@without_driver
def test_nvml_says_that_there_is_no_driver(shared_pool: WorkerPool) -> None:
    assert shared_pool.run_fresh(missing.nvml) == device.NO_DRIVER


@without_driver
def test_torch_says_what_is_missing(shared_pool: WorkerPool) -> None:
    assert shared_pool.run_fresh(missing.torch) in (
        stages_torch.NO_TORCH,
        stages_torch.NO_GPU,
    )


@pytest.mark.parametrize(
    ("package", "ask", "sentence"),
    [
        ("cupti", missing.cupti, activity.NO_PACKAGE),
        ("pynvml", missing.nvml, device.NO_PACKAGE),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    shared_pool: WorkerPool, package: str, ask: Any, sentence: str
) -> None:
    assert shared_pool.run_fresh(_asked_without, package, ask) == sentence
    assert "pip install passlens[gpu]" in sentence


def _asked_without(package: str, ask: Any) -> str:
    """Ask in an interpreter that cannot find the package."""
    import sys

    sys.modules[package] = None  # pyright: ignore[reportArgumentType] - documented to stop imports
    return ask()


@without_driver
def test_without_a_driver_calls_are_made_all_the_same_and_a_remark_says_so() -> None:
    made, remarks = list[int](), list[str]()
    assert recorded({"run": lambda: made.append(1)}, remarks) is None
    recorded({"run": lambda: made.append(2)}, remarks)
    assert made == [1, 2]
    assert len(remarks) == 1


@without_driver
def test_capturing_without_a_gpu_is_refused_and_nothing_is_measured(
    shared_pool: WorkerPool, tmp_path: Any
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parser.parse_model(MODEL).SerializeToString())
    config = RunConfig(device="cuda", cuda_graph=True)
    with pytest.raises(RunError, match="CUDA"):
        shared_pool.run_fresh(capture_side, path, config, CapturePlan(runs=1))


def test_other_numbers_go_to_the_same_address(shared_pool: WorkerPool) -> None:
    before, after, same = shared_pool(_bound_twice, parser.parse_model(MODEL).SerializeToString())
    assert (before, after, same) == (1.0, 2.0, True)


def _bound_twice(model: bytes) -> tuple[float, float, bool]:
    """In a worker: run, change the input in place, run again."""
    import onnxruntime

    session: Any = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    x = np.ones((2, 3), np.float32)
    bound = BoundRun(session, {"x": x}, {"z": x}, device="cpu", graph_id=1)
    bound()
    before, places = float(bound.output("z")[0, 0]), bound.addresses()
    bound.update("x", 2 * x)
    bound()
    return before, float(bound.output("z")[0, 0]), places == bound.addresses()


def test_steady_runs_stop_at_the_plan() -> None:
    made: list[int] = []
    found = steady(lambda: made.append(1), CapturePlan(runs=5, seconds=60), time.perf_counter_ns)
    assert len(found) == len(made) == 5
    late = iter(range(0, 10**12, 10**10))
    assert len(steady(lambda: None, CapturePlan(runs=5, seconds=1), lambda: next(late))) == 1


def test_throttle_reasons_are_nvmls_and_idleness_is_none_of_them() -> None:
    nvml = pytest.importorskip("pynvml")
    names = {n: getattr(nvml, n) for n in dir(nvml) if n.startswith("nvmlClocksEventReason")}
    mask = nvml.nvmlClocksEventReasonSwPowerCap | nvml.nvmlClocksEventReasonGpuIdle
    assert throttle_reasons(mask, names) == ("SwPowerCap",)
    assert throttle_reasons(0, names) == ()


def test_the_listing_is_the_code_that_is_timed() -> None:
    for step in ("capture_begin()", "capture_end()", "graph.instantiate", "graph.replay"):
        assert step in stages_torch.LISTING


def test_stages_of_torch_survive_json() -> None:
    stages = TorchStages((1.0,), (2.0,), (3.0,), (4.0,), 64, "2.11", "a GPU")
    made = RECORDED.dumps(Recorded(stages=stages))
    assert RECORDED.loads(made).stages == stages
