"""Kernels in the whole network: only there it shows whether they pay.

All of them together are raced against the best there is without any. Then parts of them are left
out, each decided by a race with its interval; where that is not sure, their halves are, down to a
single kernel. What does not pay is taken back: the chain stays as it was. Where the result is not
surely as fast as what was best without, there are no kernels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from optimizer.isolation import Following, part_of
from optimizer.model.writer import write
from optimizer.operators.generated import GENERATED
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast
from profiling.workers import WorkerPool

NEVER_ABOVE = 1.02
"""Of the best time without kernels, the upper end of the interval; beyond it, there are none."""
WITH, WITHOUT = "with", "without"

_OF_FIRST = 0.5
"""Of the seconds: the race of everything there is."""
_OF_PARTS = 0.4
"""Of the seconds: everything until the parts that do not pay are found."""
_OF_LAST = 0.2
"""Of the seconds: the race of what is left against the best without."""
_OF_ONE = 0.1
"""Of the seconds: one race of a part."""
_WORTHLESS = Contrast(0.0, 0.0, 0.0, 0, "slower")


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
        """The same of all kernels together."""
        return self.first.contrast(self.first.timings[-1].label, baseline=self.best)


def settle_network(
    rivals: Sequence[Variant],
    generated: Variant,
    kernels: Sequence[str],
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
        kernels: their names, those that promise most first.
        pool: where they run.
        plan: of all races together, by its seconds of steady running.
        folder: for files with some of the kernels.
        following: told what is done, and asked often.

    Raises:
        StudioError: no rival runs.
        Cancelled: if `cancelled` said so.
    """
    told = part_of(following, "", 0, of=2)
    first = measure([*rivals, generated], pool=pool, plan=_part(plan, _OF_FIRST), **told)
    best = _fastest(first, [one.label for one in rivals])
    network = _Network(
        generated, kernels, (pool, plan, folder), part_of(following, "", 1, of=2)
    )  # fmt: skip
    is_sure = _lower(first.contrast(generated.label, baseline=best)) > 1
    ends = time.monotonic() + _OF_PARTS * plan.seconds
    kept, parts = settle(_halves(tuple(kernels)), network.compare, ends=ends)
    names = tuple(name for name in kernels if name in kept)
    if names == tuple(kernels) and is_sure:
        return SettledNetwork(first, best, tuple(kernels), names, parts)
    if not names:
        return SettledNetwork(first, best, tuple(kernels), (), parts)
    rival = next(one for one in rivals if one.label == best)
    last = measure(
        [rival, network.variant(frozenset(names), generated.label)],
        pool=pool, plan=_part(plan, _OF_LAST), **following,
    )  # fmt: skip
    pays = _lower(last.contrast(generated.label, baseline=best)) >= 1 / NEVER_ABOVE
    stays = names if pays and last.timings[-1].believable else ()
    return SettledNetwork(first, best, tuple(kernels), stays, parts, last)


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
    """The model with some of its kernels written out as the operators they were, as `target`."""
    model = ir.load(source)
    InlinePass(lambda one: one.domain == GENERATED and one.name in names)(model)
    write(model, target)


class _Network:
    """Files of a network with some of its kernels, and their races."""

    def __init__(
        self,
        generated: Variant,
        kernels: Sequence[str],
        bench: tuple[WorkerPool, RacePlan, Path],
        told: Following,
    ) -> None:
        self._generated, self._kernels = generated, kernels
        self._pool, self._plan, self._folder = bench
        self._told = told
        self._files: dict[frozenset[str], Path] = {}

    def compare(self, without: frozenset[str], kept: frozenset[str]) -> Contrast:
        """One race of two files; what computes something else does not pay, however fast it is."""
        pair = [self.variant(without, WITHOUT), self.variant(kept, WITH)]
        race = measure(pair, pool=self._pool, plan=_part(self._plan, _OF_ONE), **self._told)
        found = race.contrast(WITH, baseline=WITHOUT)
        return _WORTHLESS if found is None or not race.timings[-1].believable else found

    def variant(self, kept: frozenset[str], label: str) -> Variant:
        """The network with these kernels, and no others."""
        if kept not in self._files:
            target = self._folder / f"kernels-{len(self._files)}.onnx"
            left_out = [name for name in self._kernels if name not in kept]
            self._pool(without_kernels, self._generated.located, left_out, target)
            self._files[kept] = target
        return replace(self._generated, label=label, model=self._files[kept])


def _halves(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    middle = len(names) // 2
    return [part for part in (names[:middle], names[middle:]) if part]


def _part(plan: RacePlan, share: float) -> RacePlan:
    return replace(plan, seconds=share * plan.seconds)


def _lower(found: Contrast | None) -> float:
    return 0.0 if found is None else found.low


def _fastest(race: Race, labels: Sequence[str]) -> str:
    """Of those that computed the right thing; the first where none has times."""
    times = {
        timing.label: timing.summary.p50_ms
        for timing in race.timings
        if timing.label in labels and timing.believable and timing.summary is not None
    }
    return min(times, key=lambda label: times[label], default=labels[0])
