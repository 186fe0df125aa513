"""Profiles as a Chrome trace: for chrome://tracing and Perfetto.

A process a variant; in it a thread a lane, the phases of each run, and a counter of memory. What
the profiler took itself is taken off where it is known.
Format: the "Trace Event Format", JSON object form, times in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from profiling.timeline.events import Lane, Run, lanes_of
from profiling.timeline.profile import Profile

Json = dict[str, Any]

_RUNS = 0
"""The thread of the runs themselves; lanes follow."""

_DIGITS = 3
"""Of microseconds: nanoseconds are enough."""


def chrome_trace(profiles: Mapping[str, Profile]) -> Json:
    """All runs of all variants, each process on a clock of its own that starts at 0.

    Args:
        profiles: by label.
    """
    events: list[Json] = []
    for pid, (label, profile) in enumerate(profiles.items(), start=1):
        events += [
            _name(pid, None, "process_name", label),
            {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}},
        ]
        events += _process(pid, profile)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _process(pid: int, profile: Profile) -> Iterator[Json]:
    runs = [profile.bare(run) for run in profile.timeline.runs]
    yield _name(pid, _RUNS, "thread_name", "runs")
    lanes = [lanes_of(run) for run in runs]
    for tid, lane in enumerate(max(lanes, key=len, default=()), start=1):
        yield _name(pid, tid, "thread_name", lane.name)
    origin = runs[0].start_us if runs else 0
    for number, (run, here) in enumerate(zip(runs, lanes, strict=True)):
        yield _span(pid, _RUNS, f"run {number + 1}", run.start_us - origin, run.duration_us)
        if run.executor_us:
            start_us = run.executor_start_us - origin
            yield _span(pid, _RUNS, "executor", start_us, run.executor_us)
        for tid, lane in enumerate(here, start=1):
            yield from _lane(pid, tid, lane, run, profile, origin)
        yield from _counters(pid, run, origin)


def _lane(
    pid: int, tid: int, lane: Lane, run: Run, profile: Profile, origin: float
) -> Iterator[Json]:
    for index in lane.events:
        event = run.events[index]
        span = _span(pid, tid, event.node, event.start_us - origin, event.duration_us)
        span["cat"] = event.op_type
        span["args"] = {
            "operator": event.op_type,
            "provider": event.provider,
            "nodes": list(profile.kernels.get(event.node, ())),
            "output_bytes": event.output_bytes,
            "activation_bytes": event.activation_bytes,
            "parameter_bytes": event.parameter_bytes,
        }
        yield span


def _counters(pid: int, run: Run, origin: float) -> Iterator[Json]:
    for event in run.events:
        if event.memory is not None:
            values = {
                "requested": event.memory.requested,
                "in use": event.memory.in_use,
                "held": event.memory.held,
            }
            moment = round(event.end_us - origin, _DIGITS)
            for name, value in values.items():
                yield {"ph": "C", "pid": pid, "tid": 0, "name": f"memory {name}", "ts": moment,
                       "args": {"bytes": value}}  # fmt: skip


def _span(pid: int, tid: int, name: str, start_us: float, duration_us: float) -> Json:
    times = {"ts": round(start_us, _DIGITS), "dur": round(duration_us, _DIGITS)}
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, **times}


def _name(pid: int, tid: int | None, what: str, name: str) -> Json:
    thread = {} if tid is None else {"tid": tid}
    return {"ph": "M", "pid": pid, **thread, "name": what, "args": {"name": name}}
