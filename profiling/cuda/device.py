"""The state of the GPU while something runs: memory, clocks, power, temperature, throttling.

NVML is asked a few times a second from a thread beside the run. Only in a worker.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.errors import RunError

INSTALL = "pip install passlens[gpu]"
PERIOD_S = 0.05
NO_PACKAGE = f"The GPU's state needs NVML's package, which is not installed; {INSTALL} brings it."
NO_DRIVER = "The GPU's state needs an NVIDIA driver, and there is none here."

_THROTTLE_PREFIX = "nvmlClocksEventReason"
_NOT_THROTTLED = frozenset({"GpuIdle", "ApplicationsClocksSetting", "None", "All"})


class Unavailable(RunError):
    """A measurement that this machine cannot make; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class DeviceSample:
    """The GPU at one moment; None for what it does not tell.

    Attributes:
        time_ms: since the watch began.
        process_bytes: GPU memory of this process.
        used_bytes: GPU memory of everybody.
        sm_mhz: clock of the multiprocessors.
        memory_mhz: clock of the memory.
        power_w: of the board.
        temperature_c: of the chip.
        throttled: reasons for which the clock is held down, in NVML's words.
    """

    time_ms: float
    process_bytes: int | None = None
    used_bytes: int | None = None
    sm_mhz: int | None = None
    memory_mhz: int | None = None
    power_w: float | None = None
    temperature_c: int | None = None
    throttled: tuple[str, ...] = ()


@contextlib.contextmanager
def watching(device: int = 0, *, period_s: float = PERIOD_S) -> Generator[list[DeviceSample]]:
    """Sample the GPU when the block begins, until it ends, and once more then: all samples so far.

    Raises:
        Unavailable: the package or the driver is missing, or there is no such GPU.
    """
    nvml, handle = _open(device)
    samples, done = list[DeviceSample](), threading.Event()
    began = time.monotonic()

    def look() -> None:
        while True:
            samples.append(_sample(nvml, handle, (time.monotonic() - began) * 1e3))
            if done.wait(period_s):
                return

    thread = threading.Thread(target=look, daemon=True, name="nvml")
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()
        samples.append(_sample(nvml, handle, (time.monotonic() - began) * 1e3))
        nvml.nvmlShutdown()


def throttle_reasons(mask: int, names: Mapping[str, int]) -> tuple[str, ...]:
    """The reasons in NVML's bit mask, without those that are no throttling.

    Args:
        mask: as `nvmlDeviceGetCurrentClocksEventReasons` gives it.
        names: NVML's constants, by name.
    """
    found = [
        name.removeprefix(_THROTTLE_PREFIX)
        for name, bit in sorted(names.items())
        if name.startswith(_THROTTLE_PREFIX) and bit and mask & bit == bit
    ]
    return tuple(reason for reason in found if reason not in _NOT_THROTTLED)


def _open(device: int) -> tuple[Any, Any]:
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError as error:
        raise Unavailable(NO_PACKAGE) from error
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise Unavailable(NO_DRIVER) from error
    try:
        return nvml, _handle(nvml, device)
    except nvml.NVMLError as error:
        nvml.nvmlShutdown()
        raise Unavailable(f"NVML knows no GPU number {device}.") from error


def _handle(nvml: Any, device: int) -> Any:
    """NVML numbers all GPUs; the runtime those that `CUDA_VISIBLE_DEVICES` lets it see."""
    visible = [item.strip() for item in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    name = visible[device] if device < len(visible) else ""
    if name.startswith(("GPU-", "MIG-")):
        return nvml.nvmlDeviceGetHandleByUUID(name)
    return nvml.nvmlDeviceGetHandleByIndex(int(name) if name.isdigit() else device)


def _sample(nvml: Any, handle: Any, time_ms: float) -> DeviceSample:
    def ask(question: Callable[[], Any]) -> Any:
        try:
            return question()
        except nvml.NVMLError:
            return None

    power = ask(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
    mask = ask(lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    return DeviceSample(
        time_ms=time_ms,
        process_bytes=ask(lambda: _own_bytes(nvml, handle)),
        used_bytes=ask(lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).used)),
        sm_mhz=ask(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
        memory_mhz=ask(lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)),
        power_w=None if power is None else power / 1e3,
        temperature_c=ask(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        throttled=throttle_reasons(mask or 0, _constants(nvml)),
    )


def _own_bytes(nvml: Any, handle: Any) -> int | None:
    """None where the process is not listed, as in a container with other process ids."""
    for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle):
        if process.pid == os.getpid() and process.usedGpuMemory is not None:
            return int(process.usedGpuMemory)
    return None


def _constants(nvml: Any) -> dict[str, int]:
    names = [name for name in dir(nvml) if name.startswith(_THROTTLE_PREFIX)]
    return {name: int(getattr(nvml, name)) for name in names}
