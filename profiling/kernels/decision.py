"""From winners of workloads to one way to run the whole model.

Options belong to a session: all workloads share them. What is chosen is what saves most over all
raced workloads, each weighed by its share of the time; a workload that gets slower counts against
it. A reformulation belongs to its places in the graph and is chosen workload by workload.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from profiling.config import ConfigError, RunConfig, Value
from profiling.config.settings import from_values
from profiling.kernels.selection import CandidateRow, Selection, WorkloadRace

_LEAST = 0.005
"""Options that promise less than this share of the time are not worth a change."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What to do with the whole model.

    Attributes:
        options: changes of the variant's options.
        reformulations: workload key -> id.
        saved_by_options: predicted share of the time of all operators, 0 to 1.
        saved_by_reformulations: the same for the reformulations without the options.
        saved: for both together.
        notes: how it was weighed, a sentence each.
    """

    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    reformulations: Mapping[str, str] = field(default_factory=dict[str, str])
    saved_by_options: float = 0.0
    saved_by_reformulations: float = 0.0
    saved: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether something is to be changed."""
        return bool(self.options or self.reformulations)


def choose(selection: Selection, *, lossy: bool = False) -> Choice:
    """What the races speak for. "No clear difference" speaks for nothing.

    Args:
        selection: the races.
        lossy: whether reformulations with fewer bits may be chosen.
    """
    races = selection.races
    sets = _option_sets(races)
    rows = {
        race.operator.workload.key: {row.candidate.label: row for row in race.rows()}
        for race in races
    }
    wrong = {label for known in rows.values() for label, row in known.items() if row.wrong}
    totals = {
        label: _saved(races, {key: _speedup(known, label) for key, known in rows.items()})
        for label in sets
        if label not in wrong
    }
    chosen, notes = _combined(sets, totals, selection.config)
    by_options = {
        key: math.prod(_speedup(known, label) for label in chosen) for key, known in rows.items()
    }
    ways = {
        key: best
        for key, known in rows.items()
        if (best := _best_reformulation(known.values(), lossy=lossy)) is not None
        and best.speedup > by_options[key]
    }
    alone = {key: row.speedup for key, row in ways.items()}
    return Choice(
        {name: value for label in chosen for name, value in sets[label].items()},
        {key: row.candidate.reformulation for key, row in ways.items()},
        _saved(races, by_options),
        _saved(races, alone),
        _saved(races, {key: max(one, alone.get(key, 1.0)) for key, one in by_options.items()}),
        notes,
    )


def _option_sets(races: tuple[WorkloadRace, ...]) -> dict[str, Mapping[str, Value]]:
    """Every set of options that was raced without a reformulation, by its label."""
    return {
        candidate.label: candidate.changes
        for race in races
        for candidate in race.candidates
        if candidate.changes and not candidate.reformulation and not candidate.unavailable
    }


def _combined(
    sets: Mapping[str, Mapping[str, Value]], totals: Mapping[str, float], base: RunConfig
) -> tuple[list[str], tuple[str, ...]]:
    """Labels of the sets to take: the most saving first, then those that agree with them."""
    chosen: list[str] = []
    merged: dict[str, Value] = {}
    notes: list[str] = []
    for label, saved in sorted(totals.items(), key=lambda item: -item[1]):
        if saved < _LEAST:
            break
        changes = sets[label]
        if any(merged.get(name, value) != value for name, value in changes.items()):
            notes.append(
                f"“{label}” would save {100 * saved:.1f} %, but contradicts what saves more:"
                " options hold for the whole session."
            )
            continue
        if set(changes) & set(merged):
            continue  # a part of what it saves is counted already
        try:
            from_values({**merged, **changes}, base=base)
        except ConfigError as error:
            notes.append(f"“{label}” cannot be combined: {error.message}")
            continue
        chosen.append(label)
        merged.update(changes)
        notes.append(f"“{label}” saves {100 * saved:.1f} % of the time of all operators.")
    if len(chosen) > 1:
        notes.append(
            "These options were raced one by one; together they are taken to multiply, which only"
            " the race of the whole model can tell."
        )
    return chosen, tuple(notes)


def _speedup(rows: Mapping[str, CandidateRow], label: str) -> float:
    """Of a set of options on a workload; 1 where it was not tried or nothing is clear."""
    return rows[label].speedup if label in rows else 1.0


def _best_reformulation(rows: Iterable[CandidateRow], *, lossy: bool) -> CandidateRow | None:
    """The surest of those raced with the variant's own options."""
    fitting = [
        row
        for row in rows
        if row.candidate.reformulation
        and not row.candidate.changes
        and row.speedup > 1
        and (lossy or not row.candidate.lossy)
    ]
    return max(fitting, key=lambda row: row.contrast.low if row.contrast else 0.0, default=None)


def _saved(races: tuple[WorkloadRace, ...], factors: Mapping[str, float]) -> float:
    """Share of the time of all operators that is saved with these speedups."""
    return sum(
        race.operator.share * (1 - 1 / factors.get(race.operator.workload.key, 1.0))
        for race in races
    )
