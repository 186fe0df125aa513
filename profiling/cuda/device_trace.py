"""What the GPU did, as CUPTI recorded it: kernels, copies, API calls, and the gaps between.

All times are CUPTI's, in nanoseconds of one clock. `trace_of` reads activity records (any objects
with the documented fields); everything here is plain data and works without a GPU.
Source: CUPTI documentation, "Activity Record Types" (CUpti_ActivityKernel9 and later,
CUpti_ActivityMemcpy5, CUpti_ActivityMemset4, CUpti_ActivityAPI, CUpti_ActivityGraphTrace2,
CUpti_ActivitySynchronization2, CUpti_ActivityMemory4, CUpti_ActivityOverhead3).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

EventKind = Literal["kernel", "copy", "set", "graph"]
Layer = Literal["runtime", "driver", "wait"]
ApiName = Callable[[Layer, int], str]

MEMCPY, MEMSET, KERNEL, DRIVER, RUNTIME = 1, 2, 3, 4, 5
CONCURRENT_KERNEL, OVERHEAD, SYNCHRONIZATION, MEMORY2, GRAPH_TRACE = 10, 17, 38, 49, 51
"""Values of CUpti_ActivityKind."""

_COPIES = {1: "host to GPU", 2: "GPU to host", 8: "GPU to GPU", 9: "host to host", 10: "peer"}
_WAITS = {1: "wait for event", 2: "stream waits for event", 3: "wait for stream", 4: "wait for GPU"}
_ALLOCATION, _RELEASE = 1, 2


@dataclass(frozen=True, slots=True)
class DeviceEvent:
    """Something the GPU did.

    Attributes:
        kind: `graph` is a whole captured graph, where nodes were not traced one by one.
        name: of the kernel, demangled; of a copy, its direction.
        stream: CUPTI's number of it.
        graph: id of the captured graph it belongs to, 0 outside of one.
        correlation: of the API call that launched it.
        size_bytes: of a copy or fill.
    """

    kind: EventKind
    name: str
    stream: int
    graph: int
    start_ns: int
    end_ns: int
    correlation: int
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ApiCall:
    """Something the host called, such as `cudaGraphLaunch`; or waited for."""

    layer: Layer
    name: str
    start_ns: int
    end_ns: int
    correlation: int


@dataclass(frozen=True, slots=True)
class RunRange:
    """One call of the session, in CUPTI's time."""

    label: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class DeviceTrace:
    """All records of one collection, in order of their start.

    Attributes:
        allocated_bytes: GPU memory allocated minus released meanwhile.
        overhead_ns: that CUPTI says it caused.
    """

    events: tuple[DeviceEvent, ...]
    calls: tuple[ApiCall, ...]
    ranges: tuple[RunRange, ...] = ()
    allocated_bytes: int = 0
    overhead_ns: int = 0

    def within(self, range_: RunRange) -> DeviceTrace:
        """What began in one call of the session."""
        events = [e for e in self.events if range_.start_ns <= e.start_ns < range_.end_ns]
        calls = [c for c in self.calls if range_.start_ns <= c.start_ns < range_.end_ns]
        return replace(self, events=tuple(events), calls=tuple(calls), ranges=(range_,))


def trace_of(
    records: Iterable[Any], api_name: ApiName, ranges: Sequence[RunRange] = ()
) -> DeviceTrace:
    """Activity records as a trace; kinds that are not asked for are passed over.

    Args:
        records: with the fields of CUPTI's structures.
        api_name: the name of a callback id, as `cuptiGetCallbackName` gives it.
        ranges: calls of the session.
    """
    events: list[DeviceEvent] = []
    calls: list[ApiCall] = []
    allocated, overhead = 0, 0
    for record in records:
        kind = int(record.kind)
        if kind == MEMORY2:
            allocated += _allocated(record)
        elif kind == OVERHEAD:
            overhead += int(record.end) - int(record.start)
        elif kind in _EVENTS:
            events.append(_event(record))
        elif kind in (DRIVER, RUNTIME, SYNCHRONIZATION):
            calls.append(_call(record, kind, api_name))
    timed = [event for event in events if event.end_ns > event.start_ns]  # 0, 0: not timed
    return joined([DeviceTrace(tuple(timed), tuple(calls), (), allocated, overhead)], ranges)


def joined(pieces: Iterable[DeviceTrace], ranges: Sequence[RunRange] = ()) -> DeviceTrace:
    """Traces of one collection as one; buffers come in any order."""
    parts = list(pieces)
    return DeviceTrace(
        tuple(sorted((e for p in parts for e in p.events), key=lambda event: event.start_ns)),
        tuple(sorted((c for p in parts for c in p.calls), key=lambda call: call.start_ns)),
        tuple(ranges),
        sum(part.allocated_bytes for part in parts),
        sum(part.overhead_ns for part in parts),
    )


def _kernel(record: Any) -> str:
    return demangled(str(record.name))


_EVENTS: Mapping[int, tuple[EventKind, Callable[[Any], str]]] = {
    KERNEL: ("kernel", _kernel),
    CONCURRENT_KERNEL: ("kernel", _kernel),
    MEMCPY: ("copy", lambda record: _COPIES.get(int(record.copy_kind), "copy")),
    MEMSET: ("set", lambda _: "fill"),
    GRAPH_TRACE: ("graph", lambda record: f"graph {int(record.graph_id)}"),
}
"""What each kind of record is here, and how it is called."""


def _event(record: Any) -> DeviceEvent:
    kind, name = _EVENTS[int(record.kind)]
    times = int(record.start), int(record.end)
    size_bytes = int(record.bytes) if kind in ("copy", "set") else 0
    stream, graph, correlation = record.stream_id, record.graph_id, record.correlation_id
    return DeviceEvent(
        kind, name(record), int(stream), int(graph), *times, int(correlation), size_bytes
    )


def _call(record: Any, kind: int, api_name: ApiName) -> ApiCall:
    if kind == SYNCHRONIZATION:
        layer: Layer = "wait"
        name = _WAITS.get(int(record.type), "wait")
    else:
        layer = "driver" if kind == DRIVER else "runtime"
        name = plain_name(api_name(layer, int(record.cbid)))
    start, end = int(record.start), int(record.end)
    return ApiCall(layer, name, start, end, int(record.correlation_id))


def _allocated(record: Any) -> int:
    sign = {_ALLOCATION: 1, _RELEASE: -1}.get(int(record.memory_operation_type), 0)
    return sign * int(record.bytes)


def plain_name(name: str) -> str:
    """An API function without its version: `cudaGraphLaunch_v10000` is `cudaGraphLaunch`."""
    stem, _, version = name.rpartition("_v")
    name = stem if stem and version.isdigit() else name
    return name.removesuffix("_ptsz")


def demangled(name: str) -> str:
    """A C++ name as people write it; as it is where that cannot be told."""
    demangle = _demangler() if name.startswith("_Z") else None
    if demangle is None:
        return name
    status = ctypes.c_int()
    found: bytes | None = demangle(name.encode(), None, None, ctypes.byref(status))
    return found.decode() if found is not None and status.value == 0 else name


@functools.cache
def _demangler() -> Any:
    """`__cxa_demangle` of the C++ library that the runtime needs anyway; its few bytes stay."""
    try:
        demangle: Any = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return None
    demangle.restype = ctypes.c_char_p
    return demangle
