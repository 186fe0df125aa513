"""A profile as plain data and back, with nothing lost: for records, pages and exports.

A run is written column by column, names as numbers into one list, and a column that is as in the
run before not again: ten thousand operators take a tenth of what objects would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from itertools import pairwise
from typing import Any, cast

from optimizer.errors import StudioError
from profiling.timeline.events import Event, Memory, Run, Timeline
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile
from profiling.timeline.profiler_cost import ProfilerCost

SCHEMA = "passlens.profile/2"
SCHEMAS = ("passlens.profile/1", SCHEMA)
"""What can be read; in the first every column stood in every run, with its names spelled out."""

MOST_EVENTS = 1_000_000
"""Of all runs together: what is read may come from anybody."""

Json = dict[str, Any]

_COLUMNS = tuple(field.name for field in fields(Event) if field.name != "memory")
_NAMES = ("node", "op_type", "provider")
_CURVE = ("times_us", "live_bytes", "held_bytes", "used_bytes")


def profile_to_json(profile: Profile) -> Json:
    """Everything that was measured, as plain data."""
    timeline, words = profile.timeline, _Words()
    runs = [_run_to_json(run, words) for run in timeline.runs]
    # How many events there are is always told.
    _tell_changes([run["events"] for run in runs], {*_COLUMNS, "memory"} - {"start_us"})
    return {
        "schema": SCHEMA,
        "load_us": timeline.load_us,
        "create_us": timeline.create_us,
        "runs": runs,
        "memory": _curves_to_json(profile.memory),
        "kernels": [
            [words.number(word) for word in (name, *nodes)]
            for name, nodes in profile.kernels.items()
        ],
        "device": _curves_to_json(profile.device),
        "device_missing": profile.device_missing,
        "profiler": None if profile.profiler is None else asdict(profile.profiler),
        "left_out": list(profile.left_out),
        "words": list(words.numbers),
    }


def profile_from_json(data: Mapping[str, Any]) -> Profile:
    """The profile again.

    Raises:
        StudioError: the data is not of this schema.
    """
    if data.get("schema") not in SCHEMAS:
        raise StudioError(f"This is no recorded profile: its schema is not {SCHEMA}.")
    try:
        words: Sequence[str] = data.get("words", ())
        return Profile(
            Timeline(data["load_us"], data["create_us"], _runs(data["runs"], words)),
            _curves(data["memory"]),
            _kernels(data["kernels"], words),
            _curves(data.get("device", ())),
            data.get("device_missing", ""),
            _profiler(data.get("profiler")),
            tuple(map(str, data.get("left_out", ()))),
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded profile is damaged: {type(error).__name__}.") from error


def _profiler(data: Json | None) -> ProfilerCost | None:
    """What the profiler cost where it ran; older recordings do not say."""
    if data is None:
        return None
    told: Json = {**data, "bare_us": tuple(data["bare_us"])}
    return ProfilerCost(**told)


class _Words:
    """Names that stand often, each written once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))


def _run_to_json(run: Run, words: _Words) -> Json:
    events = run.events
    columns: Json = {name: [getattr(e, name) for e in events] for name in _COLUMNS}
    for name in _NAMES:
        columns[name] = [words.number(word) for word in columns[name]]
    columns["memory"] = [None if e.memory is None else astuple(e.memory) for e in events]
    return {
        "start_us": run.start_us,
        "duration_us": run.duration_us,
        "executor_start_us": run.executor_start_us,
        "executor_us": run.executor_us,
        "events": columns,
    }


def _runs(rows: Sequence[Mapping[str, Any]], words: Sequence[str]) -> tuple[Run, ...]:
    count = sum(len(row["events"]["start_us"]) for row in rows)
    if count > MOST_EVENTS:
        raise ValueError(f"{count:,} events")
    columns = _carried({"memory": row.get("memory"), **row["events"]} for row in rows)
    return tuple(_run(row, told, words) for row, told in zip(rows, columns, strict=True))


def _run(row: Mapping[str, Any], columns: Json, words: Sequence[str]) -> Run:
    cells = zip(*(columns[name] for name in (*_COLUMNS, "memory")), strict=True)
    return Run(
        row["start_us"],
        row["duration_us"],
        tuple(_event(each[:-1], each[-1], words) for each in cells),
        row["executor_start_us"],
        row["executor_us"],
    )


def _event(row: Sequence[Any], memory: Sequence[int] | None, words: Sequence[str]) -> Event:
    named: Json = dict(zip(_COLUMNS, row, strict=True))
    named |= {name: _word(named[name], words) for name in _NAMES}
    named["workers"] = tuple((worker, core) for worker, core in named["workers"])
    return Event(**named, memory=None if memory is None else Memory(*memory))


def _kernels(rows: Any, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if isinstance(rows, Mapping):
        spelled = cast("Mapping[str, Sequence[str]]", rows)
        return {name: tuple(nodes) for name, nodes in spelled.items()}
    return {
        _word(name, words): tuple(_word(node, words) for node in nodes) for name, *nodes in rows
    }


def _word(value: int | str, words: Sequence[str]) -> str:
    return value if isinstance(value, str) else words[value]


def _curves_to_json(curves: Sequence[MemoryCurve]) -> list[Json]:
    rows = [asdict(curve) for curve in curves]
    _tell_changes(rows, _CURVE[1:])
    return rows


def _tell_changes(rows: Sequence[Json], names: Iterable[str]) -> None:
    """Leave out columns that are as in the row before."""
    for name in names:
        for before, row in reversed(list(pairwise(rows))):
            if row[name] == before[name]:
                row[name] = None


def _carried(rows: Iterable[Mapping[str, Any]]) -> Iterator[Json]:
    """Each row with the columns that it leaves out, as they are in those before."""
    told: Json = {}
    for row in rows:
        told = {**told, **{name: new for name, new in row.items() if new is not None}}
        yield told


def _curves(rows: Sequence[Mapping[str, Any]]) -> tuple[MemoryCurve, ...]:
    found: list[MemoryCurve] = []
    for row in _carried(rows):
        told: Json = {**row, **{name: tuple(row[name]) for name in _CURVE}}
        found.append(MemoryCurve(**told))
    return tuple(found)
