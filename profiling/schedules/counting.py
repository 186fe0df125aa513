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
LOAD, STORE, BEGIN = 0, 1, 2
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


@dataclass(frozen=True, slots=True)
class Access:
    """Elements of a tensor that are read or written by one instruction.

    Attributes:
        event: `LOAD`, `STORE`, or `BEGIN` of memory; others end things.
        lanes: how many elements.
        place: of the first one along each axis, the innermost axis first; of memory that begins,
            its first place and its extent along each.
    """

    tensor: str
    event: int
    lanes: int
    place: tuple[int, ...]


def counted(algorithm: Algorithm, schedules: Sequence[Schedule], level: CpuLevel) -> list[Counts]:
    """What each of these schedules reads and writes.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    return [_counts(traced(algorithm, schedule, level)) for schedule in schedules]


def traced(algorithm: Algorithm, schedule: Schedule, level: CpuLevel) -> Iterator[Access]:
    """All that a schedule reads and writes, one after another.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    memory = _memory()
    compiled = Compiled(algorithm, schedule, level, _TRACING)
    os.ftruncate(memory, 0)
    compiled(random_inputs(algorithm))
    return _accesses(os.pread(memory, os.fstat(memory).st_size, 0))


@cache
def _memory() -> int:
    """Where packets are written: a file without a name, since a job's folder ends with the job.

    Halide asks for it once in a process, and appends to it from then on.
    """
    memory = os.memfd_create("loads-and-stores")
    os.environ["HL_TRACE_FILE"] = f"/proc/{os.getpid()}/fd/{memory}"
    return memory


def _counts(accesses: Iterator[Access]) -> Counts:
    found = Counts(Counter(), Counter(), Counter())
    for one in accesses:
        if one.event == LOAD:
            found.loads[one.tensor] += one.lanes
        elif one.event == STORE:
            found.stores[one.tensor] += one.lanes
        elif one.event == BEGIN:
            found.memories[one.tensor] += 1
    return found


def _accesses(data: bytes) -> Iterator[Access]:
    at = 0
    while at + _HEAD.size <= len(data):
        size, _, _, bits, lanes, event, _, _, dimensions = _HEAD.unpack_from(data, at)
        places = struct.unpack_from(f"<{dimensions}i", data, at + _HEAD.size)
        start = at + _HEAD.size + 4 * dimensions + lanes * ((bits + 7) // 8)
        name = data[start : data.index(b"\0", start)].decode()
        yield Access(re.sub(r"\$\d+$", "", name), event, lanes, places[:: max(lanes, 1)])
        at += size
