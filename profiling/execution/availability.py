"""Which groups of options count on this machine, and why the others do not."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from optimizer.errors import RunError
from optimizer.findings import Status
from optimizer.limits import JobLimits
from profiling.config.option import Group
from profiling.execution.session import CUDA, TENSORRT
from profiling.workers import WorkerPool

_PROBE_LIMITS = JobLimits(seconds=120, memory_bytes=None)
"""CUDA's libraries are gigabytes: from a cold disk they take their time."""

# Identity over float[1] (IR version 8, opset 17), so that no model has to be made here
_IDENTITY = bytes.fromhex(
    "08083a390a120a017812017922084964656e746974793a001201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a02080142040a001011"
)


def availability(pool: WorkerPool) -> Mapping[Group, Status]:
    """For each group of options whether it counts here; found out in a fresh worker."""
    here = Status(ok=True)
    return {
        "session": here,
        "cpu": here,
        "cuda": _status(pool, CUDA, cuda_problem),
        "tensorrt": _status(pool, TENSORRT, tensorrt_problem),
    }


def cuda_problem() -> str:
    """Why nothing can run on a GPU here; empty if it can. Runs in a worker."""
    return _missing(CUDA) or _unusable(
        "cuda", CUDA, "its libraries cannot be loaded (CUDA 13 and cuDNN 9 are needed)."
    )


def tensorrt_problem() -> str:
    """Why nothing can run with TensorRT here; empty if it can. Runs in a worker."""
    from profiling.execution.libraries import missing_tensorrt

    problem = _missing(TENSORRT)
    if not problem and (library := missing_tensorrt()):
        problem = f"{library} cannot be loaded; install TensorRT 10 for CUDA 13."
    return problem or _unusable("tensorrt", TENSORRT, "its libraries cannot be loaded.")


def _status(pool: WorkerPool, provider: str, probe: Callable[[], str]) -> Status:
    try:
        reason = pool.run_fresh(probe, limits=_PROBE_LIMITS)
    except RunError as error:
        reason = error.message
    if not reason:
        return Status(ok=True)
    return Status(ok=False, reason=f"{provider} is not available: {reason}")


def _missing(provider: str) -> str:
    """What is not here that can be told without loading the provider."""
    import onnxruntime

    ort: Any = onnxruntime
    if provider not in ort.get_available_providers():
        return "this build of ONNX Runtime does not have it; install onnxruntime-gpu."
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver found."
    return ""


def _unusable(device: str, provider: str, otherwise: str) -> str:
    """What a session with the provider says; `otherwise` where it falls back in silence."""
    import onnxruntime

    from profiling.execution.libraries import preload

    ort: Any = onnxruntime
    ort.set_default_logger_severity(4)
    preload(ort, device)
    try:
        session = ort.InferenceSession(_IDENTITY, providers=[provider], enable_fallback=0)
    except Exception as error:  # whatever the provider raises
        return " ".join(str(error).split())[:200]
    return "" if provider in session.get_providers() else otherwise


def gpu_name() -> str:
    """Name and driver version of the first GPU, empty without one."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.strip().splitlines()[0]
    return _told_by_driver()


def _told_by_driver() -> str:
    """The GPU's name as the kernel's driver tells it, for a container without `nvidia-smi`."""
    for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        with contextlib.suppress(OSError):
            for line in file.read_text().splitlines():
                if line.startswith("Model:"):
                    return line.partition(":")[2].strip()
    return ""
