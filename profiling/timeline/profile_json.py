"""A profile as plain data and back, with nothing lost: for records, pages and exports.

A run is written column by column: ten thousand events take a third of what objects would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, cast

from optimizer.errors import StudioError
from profiling.timeline.events import Event, Memory, Run, Timeline
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile

SCHEMA = "passlens.profile/1"

Json = dict[str, Any]

_COLUMNS = tuple(field.name for field in fields(Event) if field.name != "memory")
_MEMORY = tuple(field.name for field in fields(Memory))


def profile_to_json(profile: Profile) -> Json:
    """Everything that was measured, as plain data."""
    timeline = profile.timeline
    return {
        "schema": SCHEMA,
        "load_us": timeline.load_us,
        "create_us": timeline.create_us,
        "runs": [_run_to_json(run) for run in timeline.runs],
        "memory": [asdict(curve) for curve in profile.memory],
        "kernels": {name: list(nodes) for name, nodes in profile.kernels.items()},
    }


def profile_from_json(data: Mapping[str, Any]) -> Profile:
    """The profile again.

    Raises:
        StudioError: the data is not of this schema.
    """
    if data.get("schema") != SCHEMA:
        raise StudioError(f"This is no recorded profile: its schema is not {SCHEMA}.")
    try:
        runs = tuple(_run_from_json(run) for run in data["runs"])
        return Profile(
            Timeline(data["load_us"], data["create_us"], runs),
            tuple(_curve(curve) for curve in data["memory"]),
            {name: tuple(nodes) for name, nodes in data["kernels"].items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded profile is damaged: {type(error).__name__}.") from error


def _run_to_json(run: Run) -> Json:
    events = run.events
    return {
        "start_us": run.start_us,
        "duration_us": run.duration_us,
        "executor_start_us": run.executor_start_us,
        "executor_us": run.executor_us,
        "events": {name: [_plain(getattr(e, name)) for e in events] for name in _COLUMNS},
        "memory": [None if e.memory is None else _numbers(e.memory) for e in events],
    }


def _run_from_json(data: Mapping[str, Any]) -> Run:
    columns: Mapping[str, Sequence[Any]] = data["events"]
    rows = zip(*(columns[name] for name in _COLUMNS), data["memory"], strict=True)
    return Run(
        data["start_us"],
        data["duration_us"],
        tuple(_event(row[:-1], row[-1]) for row in rows),
        data["executor_start_us"],
        data["executor_us"],
    )


def _event(row: Sequence[Any], memory: Sequence[int] | None) -> Event:
    named: Json = dict(zip(_COLUMNS, row, strict=True))
    named["workers"] = tuple((worker, core) for worker, core in named["workers"])
    return Event(**named, memory=None if memory is None else Memory(*memory))


def _numbers(memory: Memory) -> list[int]:
    return [getattr(memory, name) for name in _MEMORY]


def _plain(value: object) -> Any:
    return list(cast("tuple[int, ...]", value)) if isinstance(value, tuple) else value


def _curve(data: Mapping[str, Any]) -> MemoryCurve:
    columns = ("times_us", "live_bytes", "held_bytes", "used_bytes")
    named: Json = {**data, **{name: tuple(data[name]) for name in columns}}
    return MemoryCurve(**named)
