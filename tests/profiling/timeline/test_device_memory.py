"""Memory of a GPU beside a profile: by hand, and what is said where there is none."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path

import pytest

from optimizer.verify import jobs
from profiling.config import RunConfig
from profiling.cuda.device import NO_DRIVER, NO_PACKAGE, DeviceSample
from profiling.timeline.device_memory import (
    DeviceMemory,
    device_curve,
    device_memory_for,
)
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile
from profiling.timeline.recorder import Recorder
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model

TEXT = "g (float[64,64] x) => (float[64,64] y) {\n[a] y = MatMul(x, x)\n}"


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def test_samples_become_a_curve_of_what_everybody_has_taken() -> None:
    samples = [
        DeviceSample(0.02, process_bytes=1, used_bytes=500),
        DeviceSample(5.1),
        DeviceSample(10.25, used_bytes=700),
    ]
    assert device_curve(samples) == MemoryCurve("device", (20, 10_250), (500, 700), ())
    assert device_curve(samples[1:2]) is None


def test_only_what_runs_on_a_gpu_is_sampled() -> None:
    assert device_memory_for(RunConfig()) is None
    assert device_memory_for(RunConfig(device="cuda")) is not None
    assert device_memory_for(RunConfig(device="tensorrt")) is not None


@pytest.mark.skipif(_has_driver(), reason="there is an NVIDIA driver here")
def test_without_a_driver_the_runs_are_profiled_and_one_sentence_says_why(
    shared_pool: WorkerPool,
) -> None:
    made = shared_pool.run_fresh(_profiled, model(TEXT))
    assert [len(run.events) for run in made.timeline.runs] == [1, 1]
    assert made.device == ()
    assert made.device_missing in (NO_DRIVER, NO_PACKAGE)


def _profiled(file: bytes) -> Profile:
    """In the worker: as on a GPU, but the sessions are the CPU's."""
    with tempfile.TemporaryDirectory() as folder:
        request = jobs.Request(seeds=1)
        recorder = Recorder(file, RunConfig(), request, folder=Path(folder), device=DeviceMemory())
        recorder.run()
        recorder.run()
        return recorder.finish()
