"""What a measurement was made on."""

from __future__ import annotations

import contextlib
import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from profiling.execution.availability import gpu_name


@dataclass(frozen=True, slots=True)
class Machine:
    """Fingerprint of a machine and its software; what another version did not know is empty.

    Attributes:
        cpu: model name.
        cores: logical processors this process may use.
        memory_bytes: of the machine.
        gpu: name and driver of the first GPU, empty without one.
        system: kernel and architecture.
        runtime: version of ONNX Runtime.
        load: processes that wanted to run in the minute before, on average.
    """

    cpu: str = ""
    cores: int = 0
    memory_bytes: int = 0
    gpu: str = ""
    system: str = ""
    runtime: str = ""
    load: float = 0.0


def this_machine() -> Machine:
    """The machine as it is now."""
    return Machine(
        cpu=_cpu_name(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        gpu=gpu_name(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        runtime=_runtime_version(),
        load=os.getloadavg()[0],
    )


def _cpu_name() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown"


def _runtime_version() -> str:
    for name in ("onnxruntime-gpu", "onnxruntime"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return f"{name} {metadata.version(name)}"
    return "none"
