"""What each example of a schedule teaches, in times; and how good guessed times are.

    python -m benchmarks.schedules RAW.json --measure EXAMPLE... [--seconds S]
    python -m benchmarks.schedules RAW.json [--write FILE]

The first adds times of examples to a file: all schedules of an example in turns, in one worker, and
after them schedules drawn at random from the legal next choices, each alone. The fastest of all
runs counts, of several measurements, too: whatever else runs only adds. A piece takes about a
minute, so that the machine can be kept quiet for it. The second writes the tables.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.machine import describe
from benchmarks.report import publish
from benchmarks.spearman import spearman
from optimizer.errors import StudioError
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import SCHEDULE, Schedule, ScheduleError
from optimizer.numbers import bytes_text, three_digits, times_text
from optimizer.schedules.candidates import candidates
from optimizer.schedules.document import StepView, view_of
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.nest import nest_of
from profiling.codegen.levels import cpu_level
from profiling.schedules.running import timed
from profiling.workers import default_pool

DRAWN = 6
"""Random schedules of each example."""
STEPS = 4
"""Choices one after the other that make one."""
_SEED = 20
_LIMITS = JobLimits(seconds=200, memory_bytes=6144 * MIB)


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule of an example, guessed and measured."""

    name: str
    least_s: float
    predicted_s: float
    cells: tuple[str, ...]


def measured(example: Example, seconds: float) -> dict[str, Any]:
    """Runs of all its schedules, and of random ones.

    Args:
        example: at its sizes.
        seconds: of the schedules it has; random ones get as much again.
    """
    own = [one.schedule for one in example.schedules]
    random = drawn(example.algorithm, Random(f"{_SEED} {example.id}"))  # noqa: S311 no secret
    times = _timed(example.algorithm, own, seconds)
    found: dict[str, Any] = {
        one.name: min(runs) for one, runs in zip(example.schedules, times, strict=True)
    }
    more: list[dict[str, Any]] = []
    for one in random:
        try:
            (runs,) = _timed(example.algorithm, [one], seconds / DRAWN)
        except StudioError as error:
            print(f"{example.id}: {one}: {error.message}", file=sys.stderr)
            continue
        more.append({"schedule": SCHEDULE.to_json(one), "seconds": min(runs)})
    return {
        "own": found,
        "random": more,
        "load": os.getloadavg()[0],
        "machine": describe("halide"),
    }


def faster(found: dict[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The faster of two measurements of each schedule."""
    if before is None:
        return found
    own = {name: min(least, before["own"][name]) for name, least in found["own"].items()}
    known = {json.dumps(one["schedule"]): one["seconds"] for one in before["random"]}
    random = [
        one | {"seconds": min(one["seconds"], known.get(json.dumps(one["schedule"]), math.inf))}
        for one in found["random"]
    ]
    return found | {"own": own, "random": random, "load": min(found["load"], before["load"])}


def _timed(
    algorithm: Algorithm, schedules: Sequence[Schedule], seconds: float
) -> list[tuple[float, ...]]:
    return default_pool()(timed, algorithm, list(schedules), cpu_level(), seconds, limits=_LIMITS)


def drawn(algorithm: Algorithm, random: Random) -> list[Schedule]:
    """Schedules made of legal choices, one after the other."""
    found: list[Schedule] = []
    while len(found) < DRAWN:
        schedule = Schedule()
        for _ in range(STEPS):
            offered = list(candidates(nest_of(algorithm, schedule.primitives)))
            longer = Schedule((*schedule.primitives, *random.choice(offered).primitives))
            try:
                runnable_nest(algorithm, longer)
            except ScheduleError:
                continue
            schedule = longer
        if schedule.primitives and schedule not in found:
            found.append(schedule)
    return found


def rows_for(example: Example, raw: Mapping[str, Any]) -> list[Row]:
    """The schedules of an example, as they are told."""
    found: list[Row] = []
    for one in example.schedules:
        last = view_of("", example.algorithm, one.schedule).steps[-1]
        meters = last.meters
        moved = [bytes_text(level.moved_bytes) for level in meters.moved]
        cells = (
            f"{meters.tasks} × {meters.lanes}", times_text(meters.amplification),
            bytes_text(meters.working_set_bytes), *moved,
        )  # fmt: skip
        found.append(Row(one.name, raw["own"][one.name], _predicted_s(last), cells))
    return found


def _predicted_s(step: StepView) -> float:
    assert step.predicted_us is not None, "for a processor"
    return step.predicted_us / 1e6


def report(raw: Mapping[str, Any]) -> Iterator[str]:
    """The tables."""
    loads = [one["load"] for one in raw.values()]
    yield (
        f"{next(iter(raw.values()))['machine']}. All other work on the machine was stopped; the "
        f"load of the minute before was {median(loads):.1f} (median). The fastest run counts."
    )
    head = [
        "schedule", "ms", "times as fast as the first", "guessed, ms", "tasks × lanes", "work",
        "held", "behind L1", "behind L2", "behind L3",
    ]  # fmt: skip
    measured_s: list[float] = []
    guessed_s: list[float] = []
    for name, one in raw.items():
        rows = rows_for(EXAMPLES[name], one)
        yield from ("", f"## {EXAMPLES[name].title} (`{name}`)", "", EXAMPLES[name].teaches, "")
        yield from _table(head, [_cells(row, rows[0]) for row in rows])
        measured_s += [row.least_s for row in rows]
        guessed_s += [row.predicted_s for row in rows]
    yield from ("", "## Guessed against measured", "")
    yield from _correlations(raw, measured_s, guessed_s)


def _cells(row: Row, first: Row) -> list[str]:
    times = (1e3 * row.least_s, first.least_s / row.least_s, 1e3 * row.predicted_s)
    ms, ratio, guessed = times
    return [row.name, three_digits(ms), times_text(ratio), three_digits(guessed), *row.cells]


def _correlations(
    raw: Mapping[str, Any], measured_s: Sequence[float], guessed_s: Sequence[float]
) -> Iterator[str]:
    """Rank correlations: of the examples' schedules, and of those drawn at random."""
    rows: list[list[str]] = []
    random_measured: list[float] = []
    random_guessed: list[float] = []
    for name, one in raw.items():
        algorithm = EXAMPLES[name].algorithm
        times = [each["seconds"] for each in one["random"]]
        guesses = [
            _predicted_s(view_of("", algorithm, SCHEDULE.from_json(each["schedule"])).steps[-1])
            for each in one["random"]
        ]
        own = rows_for(EXAMPLES[name], one)
        every = spearman(
            [*times, *(row.least_s for row in own)],
            [*guesses, *(row.predicted_s for row in own)],
        )
        rows.append([name, str(len(times) + len(own)), f"{every:.2f}"])
        random_measured += times
        random_guessed += guesses
    yield (
        f"Spearman's rank correlation over the {len(measured_s)} schedules of the examples: "
        f"{spearman(measured_s, guessed_s):.2f}; over {len(random_measured)} schedules drawn at "
        f"random, to which nothing was fitted: {spearman(random_measured, random_guessed):.2f}. "
        "Within an example, both together:"
    )
    yield ""
    yield from _table(["example", "schedules", "rank correlation"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|---{'|--:' * (len(head) - 1)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def main(words: Sequence[str]) -> int:
    """Measure, or write."""
    parser = argparse.ArgumentParser(prog="benchmarks.schedules")
    parser.add_argument("raw", type=Path)
    parser.add_argument("--measure", nargs="+", choices=list(EXAMPLES), default=[])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args(words)
    known: dict[str, Any] = {}
    if arguments.raw.exists():
        known |= json.loads(arguments.raw.read_text())
    for name in arguments.measure:
        try:
            known[name] = faster(measured(EXAMPLES[name], arguments.seconds), known.get(name))
        except StudioError as error:
            print(f"{name}: {error.message}", file=sys.stderr)
            continue
        arguments.raw.write_text(json.dumps(known))
        print(f"{name}: done", flush=True)
    if not arguments.measure:
        ordered = {name: known[name] for name in EXAMPLES if name in known}
        publish(report(ordered), arguments.write)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
