"""Autoschedulers: their schedules replayed to machine code, and raced.

    python -m benchmarks.autoschedulers RAW.json --replay [EXAMPLE...]
    python -m benchmarks.autoschedulers RAW.json --race EXAMPLE... [--seconds S]
    python -m benchmarks.autoschedulers RAW.json [--write FILE]

The first two add to a file: whether imported schedules compile to what the autoscheduler's own do,
and times in turns (schedules are kept in the file by a replay, so that a race only compiles and
runs, and the machine can be kept quiet for it). The third writes the tables.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from benchmarks.report import publish
from optimizer.errors import StudioError
from optimizer.limits import MIB, JobLimits
from optimizer.loops.schedule import SCHEDULE, Schedule
from optimizer.numbers import three_digits
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.steps import steps_of
from profiling.codegen.levels import cpu_level
from profiling.racing.schedules import Standing, race_schedules
from profiling.schedules.autoschedulers import AUTOSCHEDULERS, FOR_GPUS, LIMITS, Autoscheduler
from profiling.schedules.replay import replayed
from profiling.workers import default_pool

THREADS = 2
"""That schedules are made for."""
_ISL_LIMITS = JobLimits(seconds=120, memory_bytes=2048 * MIB)


def replay(example: Example, name: Autoscheduler) -> dict[str, Any]:
    """Two compilations of an autoscheduler's schedule, compared."""
    try:
        found = default_pool()(
            replayed, example.algorithm, name, cpu_level(), THREADS, limits=LIMITS
        )
    except StudioError as error:
        return {"refused": error.message}
    schedule = found.found.schedule
    refused = [one.refusal for one in steps_of(example.algorithm, schedule) if one.refusal]
    return {
        "lines": found.lines,
        "difference": found.difference,
        "problem": found.problem,
        "left_out": list(found.found.left_out),
        "refused_steps": refused,
        "schedule": SCHEDULE.to_json(schedule),
    }


def race(example: Example, replays: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """An example's own schedules, isl's and those of autoschedulers, in turns."""
    entries: dict[str, Schedule | str] = {one.name: one.schedule for one in example.schedules}
    entries["isl"] = _isl(example)
    for name in AUTOSCHEDULERS:
        if name not in FOR_GPUS:
            kept = replays[name]
            entries[name] = (
                SCHEDULE.from_json(kept["schedule"]) if "schedule" in kept else kept["refused"]
            )
    standings = race_schedules(example.algorithm, entries, pool=default_pool(), seconds=seconds)
    return {
        "rows": [_row(one) for one in standings],
        "load": os.getloadavg()[0],
        "machine": describe("halide"),
    }


def _isl(example: Example) -> Schedule | str:
    from optimizer.polyhedral.proposal import proposed

    try:
        return default_pool()(proposed, example.algorithm, 16, limits=_ISL_LIMITS)
    except StudioError as error:
        return error.message


def _row(one: Standing) -> dict[str, Any]:
    against = one.against
    interval = [against.speedup, against.low, against.high] if against else []
    return {
        "name": one.name, "ms": one.latency_ms, "speedup": interval, "left_out": one.left_out,
        "problem": one.problem,
    }  # fmt: skip


def report(raw: Mapping[str, Any]) -> Iterator[str]:
    """The tables."""
    yield from ("# Autoschedulers", "")
    yield from _replays(raw.get("replays", {}))
    yield from _races(raw.get("races", {}))


def _replays(replays: Mapping[str, Any]) -> Iterator[str]:
    yield from ("## Replayed to machine code", "")
    yield (
        "Instructions of the kernel (and PTX, for a GPU) as Halide makes them when the "
        "autoscheduler applied its schedule, against those of the imported primitives; names do "
        "not count. In "
        f"numbers: lines of assembly. Made for {THREADS} threads; written by "
        "`python -m benchmarks.autoschedulers`."
    )
    yield from ("", f"| example | {' | '.join(AUTOSCHEDULERS)} |")
    yield f"|---|{'---|' * len(AUTOSCHEDULERS)}"
    for example, found in replays.items():
        yield f"| {example} | {' | '.join(_verdict(found[name]) for name in AUTOSCHEDULERS)} |"
    notes = [
        f"- {example}, {name}: {note}"
        for example, found in replays.items()
        for name in AUTOSCHEDULERS
        for note in _notes(found[name])
    ]
    yield from ("", *notes, "")


def _verdict(found: Mapping[str, Any]) -> str:
    if "refused" in found:
        return "not imported"
    if found["problem"]:
        return "not compiled"
    return f"differs, {found['lines']}" if found["difference"] else f"same, {found['lines']}"


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    if "refused" in found:
        yield found["refused"]
        return
    if found["problem"]:
        yield found["problem"]
    parts = len(found["left_out"])
    if parts:
        yield f"{parts} Funcs that are parts of expressions here have loops in the text."
    for refusal in sorted(set(found["refused_steps"])):
        times = found["refused_steps"].count(refusal)
        yield f"our rules refuse {times} of its steps, which Halide takes: {refusal}."


def _races(races: Mapping[str, Any]) -> Iterator[str]:
    if not races:
        return
    first = next(iter(races.values()))
    yield from ("## Raced", "")
    yield (
        f"{first['machine']}. All schedules of an example in turns in one process, other work "
        "stopped; lower quartile of its runs, and the speedup over the first row with its 95 % "
        "interval. Steps that our rules refuse are left out."
    )
    for example, found in races.items():
        yield from ("", f"### {EXAMPLES[example].title}", "")
        yield "| schedule | ms | speedup | steps left out |"
        yield "|---|---|---|---|"
        for row in found["rows"]:
            told = row["speedup"]
            speedup = f"{told[0]:.2f} ({told[1]:.2f}–{told[2]:.2f})" if told else ""
            cells = (row["problem"],) if row["problem"] else (three_digits(row["ms"]), speedup)
            padded = (*cells, "", "")[:2]
            yield f"| {row['name']} | {padded[0]} | {padded[1]} | {row['left_out'] or ''} |"


def main(arguments: Sequence[str]) -> None:
    """Measure, or write what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("raw", type=Path)
    parser.add_argument("--replay", nargs="*", choices=[*EXAMPLES], metavar="EXAMPLE")
    parser.add_argument("--race", nargs="+", choices=[*EXAMPLES], metavar="EXAMPLE")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args(arguments)
    raw: dict[str, Any] = json.loads(asked.raw.read_text()) if asked.raw.exists() else {}
    replays, races = raw.setdefault("replays", {}), raw.setdefault("races", {})
    for example in (asked.replay or EXAMPLES) if asked.replay is not None else ():
        print(example, file=sys.stderr)
        replays[example] = {name: replay(EXAMPLES[example], name) for name in AUTOSCHEDULERS}
    for example in asked.race or ():
        races[example] = race(EXAMPLES[example], replays[example], asked.seconds)
    if asked.replay is None and asked.race is None:
        publish(report(raw), asked.write)
    else:
        asked.raw.write_text(json.dumps(raw))


if __name__ == "__main__":
    main(sys.argv[1:])
