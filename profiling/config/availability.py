"""Which groups of options count on this machine, and why the others do not."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
from collections.abc import Mapping
from typing import Any

from optimizer.errors import RunError
from optimizer.model.findings import Status
from optimizer.model.limits import JobLimits
from profiling.config.option import Group
from profiling.workers import WorkerPool

CUDA = "CUDAExecutionProvider"
_PROBE_LIMITS = JobLimits(seconds=60, memory_bytes=None)
# Identity over float[1] (IR version 8, opset 17), so that no model has to be made here
_IDENTITY = bytes.fromhex(
    "08083a390a120a017812017922084964656e746974793a001201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a02080142040a001011"
)


def availability(pool: WorkerPool) -> Mapping[Group, Status]:
    """For each group of options whether it counts here; found out in a fresh worker."""
    try:
        reason = pool.run_fresh(cuda_problem, limits=_PROBE_LIMITS)
    except RunError as error:
        reason = error.message
    here = Status(ok=True)
    missing = Status(ok=False, reason=f"{CUDA} is not available: {reason}")
    return {"session": here, "cpu": here, "cuda": missing if reason else here}


def cuda_problem() -> str:
    """Why nothing can run on a GPU here; empty if it can. Runs in a worker."""
    import onnxruntime

    ort: Any = onnxruntime
    if CUDA not in ort.get_available_providers():
        return "this build of ONNX Runtime has no CUDA; install onnxruntime-gpu."
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver found."
    ort.set_default_logger_severity(4)
    with contextlib.suppress(Exception):
        ort.preload_dlls()  # CUDA and cuDNN from their wheels, where installed
    try:
        session = ort.InferenceSession(_IDENTITY, providers=[CUDA])
    except Exception as error:  # whatever the provider raises
        return " ".join(str(error).split())[:200]
    if CUDA not in session.get_providers():
        return "its libraries cannot be loaded (CUDA 13 and cuDNN 9 are needed)."
    return ""


def gpu_name() -> str:
    """Name and driver version of the first GPU, empty without one."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.strip().splitlines()[0]
    return ""
