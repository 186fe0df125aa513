"""Kernels in the whole network: only there it shows whether they pay.

All of them together are raced against the best there is without any. Then parts of them are left
out, each decided by a race with its interval; where that is not sure, their halves are, down to a
single kernel. What does not pay is taken back: the chain stays as it was. What is left is raced
against the best without; as long as it is not surely within 1.02 of that, the half that promises
less is taken back, too, and in the end all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from optimizer.isolation import Following, part_of
from optimizer.model.writer import write
from optimizer.operators.generated import GENERATED, unscheduled
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast
from profiling.workers import WorkerPool

NEVER_ABOVE = 1.02
"""Of the best time without kernels, the upper end of the interval; beyond it, there are none."""
WITH, WITHOUT = "with", "without"

_OF_FIRST = 0.35
"""Of the seconds, steady running: the race of everything there is."""
_OF_LAST = 0.15
"""Of the seconds, steady running: the race of what is left against the best without."""
_OF_ONE = 0.06
"""Of the seconds, steady running: the race of one part."""
_WORTHLESS = Contrast(0.0, 0.0, 0.0, 0, "slower")
_UNKNOWN = Contrast(1.0, 0.0, math.inf, 0, "no_clear_difference")


@dataclass(frozen=True, slots=True)
class PartRace:
    """A decision about some kernels of a network.

    Attributes:
        names: of the kernels that were left out.
        contrast: how much faster the network is with them than without.
        pays: whether they stay.
    """

    names: tuple[str, ...]
    contrast: Contrast
    pays: bool


@dataclass(frozen=True, slots=True)
class SettledNetwork:
    """What became of a network's kernels.

    Attributes:
        first: everything there is, and all kernels, in one race.
        best: label of what was fastest without kernels.
        kernels: names of all that there were.
        kept: names of those that stay; none where the network stays as it was best without.
        parts: the decisions on the way.
        last: the best without, then what was kept; None where the first race has it.
    """

    first: Race
    best: str
    kernels: tuple[str, ...]
    kept: tuple[str, ...]
    parts: tuple[PartRace, ...] = ()
    last: Race | None = None

    @property
    def contrast(self) -> Contrast | None:
        """Times as fast as the best without kernels; None where there are none."""
        race = self.last or self.first
        return race.contrast(race.timings[-1].label, baseline=self.best) if self.kept else None

    @property
    def tried(self) -> Contrast | None:
        """The same of all kernels together; None where they were not measured."""
        if not self.kernels or not self.first.timings[-1].believable:
            return None
        return self.first.contrast(self.first.timings[-1].label, baseline=self.best)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Kernels that stay although there was no time to ask about them alone, or sure enough."""
        asked = {name for part in self.parts for name in part.names}
        return tuple(name for name in self.kept if name not in asked)


def settle_network(
    rivals: Sequence[Variant],
    generated: Variant,
    parts: Sequence[Sequence[str]],
    *,
    pool: WorkerPool,
    plan: RacePlan,
    folder: Path,
    **following: Unpack[Following],
) -> SettledNetwork:
    """Find the kernels that pay in a network.

    Args:
        rivals: what there is without generated kernels; the first says what is right.
        generated: the file with all kernels.
        parts: names of its kernels, in the parts that are asked about first; in each those first
            that promise most.
        pool: where they run.
        plan: of all races together; its seconds are those of a clock, starts of processes included.
        folder: for files with some of the kernels.
        following: told what is done, and asked often.

    Raises:
        StudioError: no rival runs.
        Cancelled: if `cancelled` said so.
    """
    return _Settling(rivals, generated, parts, (pool, plan, folder)).run(following)


def settle(
    asked: Iterable[Sequence[str]],
    compare: Callable[[frozenset[str], frozenset[str]], Contrast],
    *,
    ends: float,
) -> tuple[frozenset[str], tuple[PartRace, ...]]:
    """Which kernels stay, and how that was decided.

    Args:
        asked: all kernels, in the parts that are asked about first.
        compare: how much faster the network is with the second kernels than with the first.
        ends: when to ask no more, on the monotonic clock; what is undecided then stays.
    """
    left = [tuple(part) for part in asked if part]
    kept, told = frozenset(name for part in left for name in part), list[PartRace]()
    while left and time.monotonic() < ends:
        part = left.pop(0)
        without = kept - set(part)
        found = compare(without, kept)
        is_sure = found.low > 1 or found.high < 1
        if len(part) > 1 and not found.low > 1:
            left += _halves(part)
            continue
        pays = found.low > 1 if is_sure else found.speedup >= 1
        told.append(PartRace(part, found, pays))
        kept = kept if pays else without
    return kept, tuple(told)


def without_kernels(source: Path, names: Sequence[str], target: Path) -> None:
    """The model with some of its kernels written out as the operators they were, as `target`.

    Kernels with a schedule are named as those in the default order.
    """
    model = ir.load(source)
    InlinePass(lambda one: one.domain == GENERATED and unscheduled(one.name) in names)(model)
    write(model, target)


class _Settling:
    """The races of one network, within the time of its plan."""

    def __init__(
        self,
        rivals: Sequence[Variant],
        generated: Variant,
        parts: Sequence[Sequence[str]],
        bench: tuple[WorkerPool, RacePlan, Path],
    ) -> None:
        self._rivals, self._generated = rivals, generated
        self._parts = [tuple(part) for part in parts if part]
        self._names = tuple(name for part in self._parts for name in part)
        self._pool, self._plan, self._folder = bench
        self._ends = time.monotonic() + self._plan.seconds
        self._start_s = 0.0
        """What one variant takes in a race beside its steady runs."""
        self._files = {frozenset(self._names): generated.model}
        self._told: Following = {}

    def run(self, following: Following) -> SettledNetwork:
        """All races, one after the other."""
        self._told = part_of(following, "all kernels: ", 0, of=3)
        first = self._race([*self._rivals, self._generated], _OF_FIRST)
        best = _fastest(first, [one.label for one in self._rivals])
        found = SettledNetwork(first, best, self._names, self._names)
        if not self._names:
            return found
        self._told = part_of(following, "kernels in parts: ", 1, of=3)
        last_s = _OF_LAST * self._plan.seconds + 2 * self._start_s
        one_s = _OF_ONE * self._plan.seconds + 2 * self._start_s
        asked = self._parts if len(self._parts) > 1 else _halves(self._names)
        kept, parts = settle(asked, self._compare, ends=self._ends - last_s - one_s)
        found = replace(found, parts=parts, kept=_of(self._names, kept))
        if found.kept == self._names and _low(found.tried) > 1:
            return found
        self._told = part_of(following, "what is left: ", 2, of=3)
        return self._last(found)

    def _last(self, found: SettledNetwork) -> SettledNetwork:
        """What is left against the best without, less of it as long as that is not surely good."""
        rival = next(one for one in self._rivals if one.label == found.best)
        names = found.kept
        while names:
            pair = [rival, self._variant(frozenset(names), self._generated.label)]
            race = self._race(pair, _OF_LAST)
            tried = replace(found, kept=names, last=race)
            if race.timings[-1].believable and _low(tried.contrast) >= 1 / NEVER_ABOVE:
                return tried
            names = names[: len(names) // 2] if time.monotonic() < self._ends else ()
        return replace(found, kept=())

    def _compare(self, without: frozenset[str], kept: frozenset[str]) -> Contrast:
        """One race of two files; what computes something else does not pay, however fast it is."""
        pair = [self._variant(without, WITHOUT), self._variant(kept, WITH)]
        race = self._race(pair, _OF_ONE)
        before, after = race.timings
        if not before.believable:  # what is wrong is not among those that were left out
            return _UNKNOWN
        found = race.contrast(WITH, baseline=WITHOUT)
        return found if found is not None and after.believable else _WORTHLESS

    def _race(self, variants: Sequence[Variant], share: float) -> Race:
        plan = replace(self._plan, seconds=share * self._plan.seconds)
        race = measure(variants, pool=self._pool, plan=plan, **self._told)
        ran_s = sum(sum(timing.latencies_ms) for timing in race.timings) / 1000
        self._start_s = max(0.0, race.seconds - ran_s) / len(variants)
        return race

    def _variant(self, kept: frozenset[str], label: str) -> Variant:
        """The network with these kernels, and no others."""
        if kept not in self._files:
            target = self._folder / f"kernels-{len(self._files)}.onnx"
            left_out = [name for name in self._names if name not in kept]
            self._pool(without_kernels, self._generated.located, left_out, target)
            self._files[kept] = target
        return replace(self._generated, label=label, model=self._files[kept])


def _of(names: tuple[str, ...], kept: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in kept)


def _halves(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    middle = len(names) // 2
    return [part for part in (names[:middle], names[middle:]) if part]


def _low(found: Contrast | None) -> float:
    return 0.0 if found is None else found.low


def _fastest(race: Race, labels: Sequence[str]) -> str:
    """Of those that computed the right thing; the first where none has times."""
    times = {
        timing.label: timing.summary.p50_ms
        for timing in race.timings
        if timing.label in labels and timing.believable and timing.summary is not None
    }
    return min(times, key=lambda label: times[label], default=labels[0])
