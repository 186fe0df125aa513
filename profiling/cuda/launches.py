"""What a device trace tells: idle time, time by kernel, the stages of a captured graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from profiling.cuda.device_trace import ApiCall, DeviceEvent, DeviceTrace

StageName = Literal["define", "instantiate", "execute"]
Origin = Literal["CUPTI", "difference", "torch"]

_TEMPLATE = re.compile(r"<[^<>]*>")
_BEGIN, _END = re.compile(r"cu(da)?StreamBeginCapture"), re.compile(r"cu(da)?StreamEndCapture")
_INSTANTIATE = re.compile(r"cu(da)?GraphInstantiate")
_LAUNCH = re.compile(r"cu(da)?GraphLaunch")


@dataclass(frozen=True, slots=True)
class Stage:
    """One of the three stages of a captured graph.

    Attributes:
        name: `define` records the launches, `instantiate` makes them executable, `execute` is one
            replay, from its launch until the GPU is done.
        time_ms: of the host's call; of a replay until the GPU's last event.
        origin: how it was measured.
    """

    name: StageName
    time_ms: float
    origin: Origin


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All launches of one kernel."""

    name: str
    calls: int
    time_ns: int


def idle_ns(events: Sequence[DeviceEvent]) -> int:
    """Nanoseconds between the first and the last event in which no stream has anything to do."""
    idle, ended = 0, min((event.start_ns for event in events), default=0)
    for event in sorted(events, key=lambda event: event.start_ns):
        idle += max(0, event.start_ns - ended)
        ended = max(ended, event.end_ns)
    return idle


def span_ns(events: Sequence[DeviceEvent]) -> int:
    """Nanoseconds from the first event's start to the last one's end; 0 without any."""
    if not events:
        return 0
    return max(e.end_ns for e in events) - min(e.start_ns for e in events)


def by_kernel(events: Sequence[DeviceEvent]) -> tuple[KernelTime, ...]:
    """Kernels by name, the slowest together first."""
    times: dict[str, tuple[int, int]] = {}
    for event in events:
        if event.kind == "kernel":
            calls, spent = times.get(event.name, (0, 0))
            times[event.name] = calls + 1, spent + event.end_ns - event.start_ns
    found = [KernelTime(name, calls, spent) for name, (calls, spent) in times.items()]
    return tuple(sorted(found, key=lambda kernel: (-kernel.time_ns, kernel.name)))


def short_name(name: str) -> str:
    """A kernel's own name, without return type, namespaces, template and arguments."""
    while (shorter := _TEMPLATE.sub("", name)) != name:
        name = shorter
    name = name.replace("(anonymous namespace)::", "").partition("(")[0]
    return name.rpartition("::")[2].split(" ")[-1] or name


def lanes(events: Sequence[DeviceEvent]) -> dict[str, tuple[DeviceEvent, ...]]:
    """Events by lane: `stream 7`, `stream 7, graph 1`."""
    found: dict[str, list[DeviceEvent]] = {}
    for event in events:
        name = f"stream {event.stream}" + (f", graph {event.graph}" if event.graph else "")
        found.setdefault(name, []).append(event)
    return {name: tuple(lane) for name, lane in sorted(found.items())}


def stages_of(trace: DeviceTrace) -> tuple[Stage, ...]:
    """The three stages, as far as the trace has them; the last capture and the last replay.

    Runtime calls count, or the driver's where the program calls those itself.
    """
    found: list[Stage] = []
    begin, end = _last(trace, _BEGIN), _last(trace, _END)
    if begin is not None and end is not None and end.end_ns > begin.start_ns:
        found.append(Stage("define", (end.end_ns - begin.start_ns) / 1e6, "CUPTI"))
    made = _last(trace, _INSTANTIATE)
    if made is not None:
        found.append(Stage("instantiate", (made.end_ns - made.start_ns) / 1e6, "CUPTI"))
    launch = _last(trace, _LAUNCH)
    if launch is not None:
        done = [e.end_ns for e in trace.events if e.correlation == launch.correlation]
        finished = max([launch.end_ns, *done])
        found.append(Stage("execute", (finished - launch.start_ns) / 1e6, "CUPTI"))
    return tuple(found)


def stages_by_difference(first_ms: float, next_ms: float, plain_ms: float) -> tuple[Stage, ...]:
    """What can be told without CUPTI: a replay, and the rest of the first call as one number.

    The first call is a plain run, the capture, its instantiation and one replay. What is left
    after a plain run and a replay is defining and instantiating together, with whatever else
    happens once, so it is an upper bound; it is given as `define`.
    """
    once_ms = max(0.0, first_ms - plain_ms - next_ms)
    return (Stage("define", once_ms, "difference"), Stage("execute", next_ms, "difference"))


def graph_calls(trace: DeviceTrace) -> DeviceTrace:
    """What is worth keeping of a first call: its calls about graphs."""
    patterns = (_BEGIN, _END, _INSTANTIATE, _LAUNCH)
    calls = [call for call in trace.calls if any(p.match(call.name) for p in patterns)]
    return replace(trace, calls=tuple(calls), events=())


def _last(trace: DeviceTrace, pattern: re.Pattern[str]) -> ApiCall | None:
    calls = [call for call in trace.calls if pattern.match(call.name)]
    runtime = [call for call in calls if call.layer == "runtime"]
    return max(runtime or calls, key=lambda call: call.start_ns, default=None)
