"""What a schedule reads and writes while it runs, counted one by one. Only in a worker.

Halide writes a packet for every load and store where it is asked to: slow, so for small sizes.
Source: `halide_trace_packet_t` in `HalideRuntime.h` of Halide 21.
"""

from __future__ import annotations

import os
import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.codegen.kernel import CpuLevel
from profiling.schedules.running import Compiled, random_inputs

_HEAD = struct.Struct("<IiBBHiiii")
_LOAD, _STORE, _BEGIN = 0, 1, 2
_TRACING = "trace_loads-trace_stores-trace_realizations"


@dataclass(frozen=True)
class Counts:
    """Of one run, by tensor.

    Attributes:
        loads: elements read.
        stores: elements written.
        memories: how often its memory began.
    """

    loads: Counter[str]
    stores: Counter[str]
    memories: Counter[str]


def counted(algorithm: Algorithm, schedules: Sequence[Schedule], level: CpuLevel) -> list[Counts]:
    """What each of these schedules reads and writes.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    memory = _memory()
    inputs = random_inputs(algorithm)
    found: list[Counts] = []
    for schedule in schedules:
        compiled = Compiled(algorithm, schedule, level, _TRACING)
        os.ftruncate(memory, 0)
        compiled(inputs)
        found.append(_counts(os.pread(memory, os.fstat(memory).st_size, 0)))
    return found


@cache
def _memory() -> int:
    """Where packets are written: a file without a name, since a job's folder ends with the job.

    Halide asks for it once in a process, and appends to it from then on.
    """
    memory = os.memfd_create("loads-and-stores")
    os.environ["HL_TRACE_FILE"] = f"/proc/{os.getpid()}/fd/{memory}"
    return memory


def _counts(data: bytes) -> Counts:
    found = Counts(Counter(), Counter(), Counter())
    for name, event, lanes in _packets(data):
        if event == _LOAD:
            found.loads[name] += lanes
        elif event == _STORE:
            found.stores[name] += lanes
        elif event == _BEGIN:
            found.memories[name] += 1
    return found


def _packets(data: bytes) -> Iterator[tuple[str, int, int]]:
    """The tensor, what happens to it, and to how many elements at a time."""
    at = 0
    while at + _HEAD.size <= len(data):
        size, _, _, bits, lanes, event, _, _, dimensions = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size + 4 * dimensions + lanes * ((bits + 7) // 8)
        name = data[start : data.index(b"\0", start)].decode()
        yield re.sub(r"\$\d+$", "", name), event, lanes
        at += size
