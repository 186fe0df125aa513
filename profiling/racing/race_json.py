"""A race as plain data and back, with nothing lost: for records, pages and other machines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from optimizer.errors import StudioError
from optimizer.verify import Comparison, Feed
from profiling.config.settings import from_values
from profiling.machine import Machine
from profiling.racing.race import Phases, Race, Timing

SCHEMA = "passlens.race/1"

Json = dict[str, Any]
"""Only what JSON itself knows; numbers that it does not know are their names as text."""


def race_to_json(race: Race) -> Json:
    """Everything that was measured, as plain data; what follows from it is left out."""
    return {
        "schema": SCHEMA,
        "as": race.question,
        "machine": _plain(asdict(race.machine)),
        "load_after": race.load_after,
        "started_at": race.started_at,
        "seconds": race.seconds,
        "transfers": race.transfers,
        "feeds": [_plain(asdict(feed)) for feed in race.feeds],
        "variants": [_timing_to_json(timing) for timing in race.timings],
    }


def race_from_json(data: Mapping[str, Any]) -> Race:
    """The race again.

    Raises:
        StudioError: the data is not of this schema.
    """
    if data.get("schema") != SCHEMA:
        raise StudioError(f"This is no recorded race: its schema is not {SCHEMA}.")
    try:
        return Race(
            timings=tuple(_timing_from_json(item) for item in data["variants"]),
            feeds=tuple(_feed(item) for item in data["feeds"]),
            transfers=data["transfers"],
            machine=Machine(**_numbers(data["machine"])),
            load_after=data["load_after"],
            started_at=data["started_at"],
            seconds=data["seconds"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StudioError(f"This recorded race is damaged: {type(error).__name__}.") from error


def _timing_to_json(timing: Timing) -> Json:
    return {
        "label": timing.label,
        "options": timing.config.changed(),
        "error": timing.error,
        "phases": None if timing.phases is None else _plain(asdict(timing.phases)),
        "blocks_ms": [list(block) for block in timing.blocks_ms],
        "peak_bytes": timing.peak_bytes,
        "providers": list(timing.providers),
        "nodes_on": None if timing.nodes_on is None else dict(timing.nodes_on),
        "outputs": [_plain(asdict(output)) for output in timing.outputs],
    }


def _timing_from_json(data: Mapping[str, Any]) -> Timing:
    phases = data["phases"]
    return Timing(
        label=data["label"],
        config=from_values(data["options"]),
        error=data["error"],
        phases=None if phases is None else _phases(phases),
        blocks_ms=tuple(tuple(block) for block in data["blocks_ms"]),
        peak_bytes=data["peak_bytes"],
        providers=tuple(data["providers"]),
        nodes_on=data["nodes_on"],
        outputs=tuple(Comparison(**_numbers(output)) for output in data["outputs"]),
    )


def _phases(data: Mapping[str, Any]) -> Phases:
    fields: Json = {**_numbers(data), "warm_up_ms": tuple(data["warm_up_ms"])}
    return Phases(**fields)


def _feed(data: Mapping[str, Any]) -> Feed:
    values = tuple(_number(value) for value in data["values"])
    fields: Json = {**data, "shape": tuple(data["shape"]), "values": values}
    return Feed(**fields)


def _plain(value: object) -> Any:
    """The same with lists for tuples, and with names for numbers that JSON does not know."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _plain(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value if key in _TEXTS else _number(value) for key, value in data.items()}


_TEXTS = frozenset({"name", "reason", "cpu", "gpu", "system", "runtime"})
_NAMED = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def _number(value: Any) -> Any:
    return _NAMED.get(value, value) if isinstance(value, str) else value
