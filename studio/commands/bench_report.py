"""What `passlens bench` found, as a table and as JSON, and whether it is good enough."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from optimizer.errors import plain, quoted
from optimizer.numbers import counted
from profiling.config import RunConfig
from profiling.config.question import explained
from profiling.racing.race import RACE, Race, Timing, remarks_of
from profiling.racing.samples import Contrast
from profiling.racing.sweep import Sweep, SweepPoint
from studio.commands.output import table

SCHEMA = "passlens.bench/3"

_HEAD = ["variant", "p50 ms", "p95 ms", "cold ms", "runs", "verdict"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """How much slower than the baseline a variant may be; `factor` 1.1 is ten per cent."""

    factor: float

    @classmethod
    def parsed(cls, text: str) -> Threshold:
        """From `10%` or `1.1`.

        Raises:
            ArgumentTypeError: it is neither.
        """
        share = text.strip().endswith("%")
        try:
            number = float(text.strip().removesuffix("%").removesuffix("x"))
        except ValueError:
            number = -1.0
        factor = 1 + number / 100 if share else number
        if not 1 <= factor < float("inf"):
            raise argparse.ArgumentTypeError(
                f"{quoted(text)} is no threshold; write a share such as 10% or a factor such as 1.1"
            )
        return cls(factor)

    def broken_by(self, contrast: Contrast) -> bool:
        """Whether the whole interval lies beyond, so that it is surely slower than allowed."""
        return contrast.verdict == "slower" and 1 / contrast.high > self.factor


def failures(found: Sequence[Sweep], threshold: Threshold | None) -> list[str]:
    """Why the exit status is 1: variants that failed, are wrong, or are too slow.

    Args:
        found: for each question, deployed first; too slow is what the first one says.
        threshold: how slow is too slow.
    """
    problems: list[str] = []
    for one in found:
        for point in one.points:
            where = f"{one.dimension} {point.size}: " if one.dimension else ""
            if point.race is None:
                problems.append(f"{where}{point.error}")
                continue
            limit = threshold if one is found[0] else None
            problems += [where + problem for problem in _failures(point.race, limit)]
    return list(dict.fromkeys(problems))


def _failures(race: Race, threshold: Threshold | None) -> list[str]:
    problems: list[str] = []
    for timing in race.timings:
        if not timing.believable:
            problems.append(f"{quoted(timing.label)}: {race.verdict(timing.label)}")
            continue
        contrast = _contrast(race, timing)
        if threshold is not None and contrast is not None and threshold.broken_by(contrast):
            asked = f", {race.question}," if race.question else ""
            problems.append(
                f"{quoted(timing.label)}{asked} is {contrast}, "
                f"which is beyond the limit of {threshold.factor:.4g}."
            )
    return problems


def report_json(
    found: Sequence[Sweep], threshold: Threshold | None, problems: list[str]
) -> dict[str, Any]:
    """Everything that was measured and what follows from it, as plain data."""
    return {
        "schema": SCHEMA,
        "passed": not problems,
        "failures": problems,
        "fail_slower_than": None if threshold is None else threshold.factor,
        "fail_slower_than_as": None if threshold is None else found[0].question,
        "dimension": found[0].dimension or None,
        "races": [_point_json(one, point) for one in found for point in one.points],
    }


def _point_json(found: Sweep, point: SweepPoint) -> dict[str, Any]:
    race = point.race
    return {
        "as": found.question,
        "size": point.size or None,
        "error": point.error,
        "race": None if race is None else RACE.to_json(race),
        "remarks": [] if race is None else list(race.remarks),
        "baseline": None if race is None else race.baseline.label,
        "results": [] if race is None else [_result_json(point, race, t) for t in race.timings],
    }


def _result_json(point: SweepPoint, race: Race, timing: Timing) -> dict[str, Any]:
    summary, contrast = timing.summary, _contrast(race, timing)
    return {
        "label": timing.label,
        "verdict": race.verdict(timing.label),
        "believable": timing.believable,
        "summary": None if summary is None else asdict(summary),
        "contrast": None if contrast is None else asdict(contrast),
        "parts_ms": timing.parts_ms,
        "cold_ms": None if timing.phases is None else timing.phases.cold_ms,
        "items_per_second": point.throughput(timing.label) if point.size else None,
    }


def _contrast(race: Race, timing: Timing) -> Contrast | None:
    """Against the baseline; None for the baseline, and without times that count."""
    if timing is race.baseline or not timing.believable:
        return None
    contrast = race.contrast(timing.label)
    return None if contrast is None or contrast.rounds == 0 else contrast


def conditions(found: Sequence[Sweep]) -> list[str]:
    """The machine, and what a reader of the numbers should know; a line each."""
    races = [point.race for one in found for point in one.points if point.race is not None]
    if not races:
        return []
    machine = races[0].machine
    where = f"{machine.gpu or machine.cpu}, {counted(machine.cores, 'core')}, {machine.runtime}"
    asked = explained(_configs(one) for one in found)
    return [f"{where}, load {machine.load:.1f}", *filter(None, [asked]), *remarks_of(races)]


def _configs(found: Sweep) -> list[RunConfig]:
    """How the variants ran, at the first size at which they did."""
    races = [point.race for point in found.points if point.race is not None]
    return races[0].configs if races else []


def report_text(found: Sequence[Sweep]) -> str:
    """A table, a row for each question, size and variant."""
    swept, several = bool(found[0].dimension), len(found) > 1
    rate = ["per second"] if swept else []
    head = [*_HEAD[:-1], *rate, _HEAD[-1]]
    before = [*(["as"] if several else []), *([plain(found[0].dimension)] if swept else [])]
    rows = [[*before, *head]]
    for one in found:
        asked = [str(one.question)] if several else []
        for point in one.points:
            start = [*asked, *([str(point.size)] if swept else [])]
            if point.race is None:
                rows.append([*start, *["-"] * (len(head) - 1), plain(point.error)])
                continue
            rows += [
                [*start, *_row(point, point.race, timing, swept=swept)]
                for timing in point.race.timings
            ]
    texts = {before.index("as")} if several else set[int]()
    numbers = frozenset(range(len(rows[0]) - 1)) - {len(before)} - texts
    return table(rows, right=numbers)


def _row(point: SweepPoint, race: Race, timing: Timing, *, swept: bool) -> list[str]:
    summary, phases = timing.summary, timing.phases
    rate = point.throughput(timing.label)
    return [
        plain(timing.label),
        "-" if summary is None else f"{summary.p50_ms:.4g}",
        "-" if summary is None else f"{summary.p95_ms:.4g}",
        "-" if phases is None or not phases.first_ms else f"{phases.cold_ms:.4g}",
        "-" if summary is None else str(summary.runs),
        *(["-" if rate is None else f"{rate:.4g}"] if swept else []),
        plain(race.verdict(timing.label)),
    ]
