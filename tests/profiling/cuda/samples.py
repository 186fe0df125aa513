"""Records in CUPTI's documented form, made up: none of this was measured.

Fields and units are those of CUpti_ActivityKernel9, CUpti_ActivityMemcpy5, CUpti_ActivityAPI,
CUpti_ActivityGraphTrace2, CUpti_ActivitySynchronization2, CUpti_ActivityMemory4.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from optimizer.codec import Format
from profiling.cuda.capture import CaptureSide, ShapeRuns
from profiling.cuda.device import DeviceSample
from profiling.cuda.device_trace import (
    CONCURRENT_KERNEL,
    DRIVER,
    GRAPH_TRACE,
    MEMCPY,
    MEMORY2,
    MEMSET,
    OVERHEAD,
    RUNTIME,
    SYNCHRONIZATION,
    DeviceTrace,
    Layer,
    RunRange,
    trace_of,
)
from profiling.cuda.launches import stages_of
from profiling.cuda.stages_torch import TorchStages

MANGLED = "_ZN2at6native13reduce_kernelILi512ELi1EfEEvT1_"
NAMES = {
    1: "cudaLaunchKernel_v7000",
    2: "cudaStreamBeginCapture_v10000",
    3: "cudaStreamEndCapture_v10000",
    4: "cudaGraphInstantiate_v12000",
    5: "cudaGraphLaunch_v10000",
    6: "cuGraphLaunch",
}


def api_name(layer: Layer, number: int) -> str:
    del layer
    return NAMES[number]


def kernel(start: int, end: int, *, graph: int = 0, correlation: int = 0, name: str = MANGLED):
    return SimpleNamespace(
        kind=CONCURRENT_KERNEL, name=name, stream_id=7, graph_id=graph, start=start, end=end,
        correlation_id=correlation,
    )  # fmt: skip


def copy(start: int, end: int, size: int):
    return SimpleNamespace(
        kind=MEMCPY, copy_kind=1, bytes=size, stream_id=7, graph_id=0, start=start, end=end,
        correlation_id=0,
    )  # fmt: skip


def fill(start: int, end: int, size: int):
    return SimpleNamespace(
        kind=MEMSET, bytes=size, stream_id=7, graph_id=0, start=start, end=end, correlation_id=0
    )


def whole_graph(start: int, end: int, *, graph: int, correlation: int):
    return SimpleNamespace(
        kind=GRAPH_TRACE, graph_id=graph, stream_id=7, start=start, end=end,
        correlation_id=correlation,
    )  # fmt: skip


def call(number: int, start: int, end: int, *, correlation: int = 0, driver: bool = False):
    return SimpleNamespace(
        kind=DRIVER if driver else RUNTIME, cbid=number, start=start, end=end,
        correlation_id=correlation,
    )  # fmt: skip


def wait(start: int, end: int):
    return SimpleNamespace(kind=SYNCHRONIZATION, type=3, start=start, end=end, correlation_id=0)


def allocation(size: int, *, released: bool = False):
    return SimpleNamespace(kind=MEMORY2, memory_operation_type=2 if released else 1, bytes=size)


def overhead(start: int, end: int):
    return SimpleNamespace(kind=OVERHEAD, start=start, end=end)


def plain_trace(kernels: int = 12) -> DeviceTrace:
    """Kernels of 10 µs with 5 µs between."""
    records = [kernel(15_000 * i, 15_000 * i + 10_000, correlation=i) for i in range(kernels)]
    records += [call(1, 15_000 * i - 3_000, 15_000 * i, correlation=i) for i in range(kernels)]
    return trace_of(records, api_name, [RunRange("run 1", -5_000, 15_000 * kernels)])


def captured_trace(kernels: int = 12) -> DeviceTrace:
    """One launch; kernels of 10 µs with 1 µs between."""
    records = [
        kernel(11_000 * i, 11_000 * i + 10_000, graph=1, correlation=99) for i in range(kernels)
    ]
    records.append(call(5, -6_000, 0, correlation=99))
    return trace_of(records, api_name, [RunRange("run 1", -8_000, 11_000 * kernels)])


def first_call_trace() -> DeviceTrace:
    """Capture 2 ms, instantiation 1 ms, replay 0.5 ms."""
    records = [
        call(2, 0, 100_000), call(1, 200_000, 210_000), call(3, 1_900_000, 2_000_000),
        call(4, 2_000_000, 3_000_000), call(5, 3_000_000, 3_100_000, correlation=9),
        call(6, 3_010_000, 3_090_000, correlation=9, driver=True),
        kernel(3_200_000, 3_500_000, graph=1, correlation=9),
    ]  # fmt: skip
    return trace_of(records, api_name, [RunRange("first call", -1, 4_000_000)])


def side(*, captured: bool) -> CaptureSide:
    first = first_call_trace() if captured else None
    steady = captured_trace() if captured else plain_trace()
    runs = ShapeRuns(
        {"batch": 1}, int(captured), 9.0 if captured else 4.0, (0.2, 0.25, 0.3),
        stages_of(first) if first else (), first, steady,
    )  # fmt: skip
    samples = (DeviceSample(0.0, 1_000_000, 2_000_000, 1500, 2600, 210.5, 45, ("SwPowerCap",)),)
    return CaptureSide(captured, 100.0, {"CUDAExecutionProvider": 12}, (runs,), samples, ("none",))


@dataclass(frozen=True, slots=True)
class Recorded:
    """What captures write into their reports."""

    trace: DeviceTrace | None = None
    sides: tuple[CaptureSide, ...] = ()
    stages: TorchStages | None = None


RECORDED = Format(Recorded, "passlens.test-recorded/1", "record of a test")
