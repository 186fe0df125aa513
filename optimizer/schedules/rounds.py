"""How often the loops of a stage run, and between which values its variables lie in a round.

Rounds of loops around are looked at in samples: the first and the last few, and one in between
that stands for all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.loops.schedule import Fuse, Split
from optimizer.schedules.intervals import Array, Interval
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.program import extent_of

_ENDS = 4
"""Rounds at either end of a loop that are looked at."""
_ALL = 3 * _ENDS
_MOST = 4096
"""Rounds of a fused loop, of which no two are alike."""
_CLIPPED = frozenset({"guard_with_if", "predicate", "predicate_loads", "predicate_stores"})


@dataclass(frozen=True)
class Samples:
    """Rounds of a loop.

    Attributes:
        indices: which, ascending.
        weights: for how many each stands; 0 for one that is only there to come before another.
    """

    indices: Array
    weights: NDArray[np.float64]

    @property
    def middle(self) -> int:
        """The number of the sample that stands for most."""
        heaviest = np.flatnonzero(self.weights == self.weights.max())
        return int(heaviest[len(heaviest) // 2])


def samples_of(extent: int, *, alike: bool) -> Samples:
    """Rounds of a loop that runs so often.

    Args:
        extent: how often.
        alike: whether all rounds are alike but for those at the ends.
    """
    if extent <= _ALL or (not alike and extent <= _MOST):
        return Samples(np.arange(extent), np.ones(extent))
    middle = extent // 2
    first, last = range(_ENDS), range(extent - _ENDS, extent)
    indices = [*first, middle - 1, middle, extent - _ENDS - 1, *last]
    ones = [1] * _ENDS
    return Samples(np.array(indices), np.array([*ones, 0, extent - 2 * _ENDS, 0, *ones], float))


@dataclass(frozen=True)
class Rounds:
    """The loops of one stage in numbers, for each round of the loops around.

    Attributes:
        depth: how many loops are around.
        extents: how often each loop runs.
        valid: of all rounds of all its loops, the share that computes.
        low: where its axes begin.
        mixed: loops of which no two rounds are alike.
        short: splits that shift inwards, and rounds of a loop that are fewer than their factor.
    """

    stage: StageLoops
    depth: int
    extents: Mapping[str, Array]
    valid: Sequence[NDArray[np.float64]]
    low: Mapping[str, Array]
    mixed: frozenset[str]
    short: Sequence[tuple[Split, int]]
    _steps: Sequence[tuple[Split | Fuse, Array]]

    def splits(self) -> Iterator[tuple[Split, Array]]:
        """Its splits, and how often the loops ran that they replaced."""
        for step, extent in self._steps:
            if isinstance(step, Split):
                yield step, extent

    def variables(self, fixed: Mapping[str, Array], rank: int) -> Mapping[str, Interval]:
        """Between which values the variables of its axes lie, in one round of some of its loops.

        Args:
            fixed: numbers of the rounds of those.
            rank: of the arrays.
        """
        found: dict[str, Interval] = {}
        for name, extent in self.extents.items():
            last = ranked(extent, rank) - 1
            if name in fixed:
                held = np.minimum(fixed[name], last)
                found[name] = held, held
            else:
                found[name] = np.zeros_like(last), last
        for step, extent in reversed(self._steps):
            if isinstance(step, Split):
                found[step.loop] = _joined(found, step, ranked(extent, rank))
            else:
                _parted(found, step, ranked(extent, rank))
        return {
            name: (found[name][0] + ranked(low, rank), found[name][1] + ranked(low, rank))
            for name, low in self.low.items()
        }


def rounds_of(stage: StageLoops, box: Mapping[str, Interval], depth: int) -> Rounds:
    """The loops of a stage that computes a box.

    Args:
        stage: whose.
        box: of its Func's axes.
        depth: of the arrays: how many loops are around.
    """
    extents = {name: np.maximum(high - low + 1, 0) for name, (low, high) in box.items()}
    low = {name: ends[0] for name, ends in box.items()}
    for axis in stage.stage.reduced:
        extents[axis.name] = ranked(np.asarray(extent_of(axis)), depth)
        low[axis.name] = ranked(np.asarray(0), depth)
    extents |= {name: ranked(np.asarray(1), depth) for name in stage.single}
    steps: list[tuple[Split | Fuse, Array]] = []
    valid: list[NDArray[np.float64]] = []
    mixed: set[str] = set()
    short: list[tuple[Split, int]] = []
    for step in stage.made:
        if isinstance(step, Split):
            old = extents.pop(step.loop)
            if step.tail == "shift_inwards":
                least = int(old.min(initial=step.factor))
                short += [(step, least)] if least < step.factor else []
                old = np.maximum(old, step.factor)
            outer = -(-old // step.factor)
            if step.tail in _CLIPPED:
                valid.append(old / np.maximum(outer * step.factor, 1))
            extents |= {step.outer: outer, step.inner: np.full_like(old, step.factor)}
            mixed |= {step.outer, step.inner} if step.loop in mixed else set()
            steps.append((step, old))
        else:
            inner = extents.pop(step.inner)
            extents[step.fused] = extents.pop(step.outer) * inner
            mixed.add(step.fused)
            steps.append((step, inner))
    return Rounds(stage, depth, extents, valid, low, frozenset(mixed), short, steps)


def ranked(array: Array, rank: int) -> Array:
    """An array with so many axes: those that it has, and then some of one place."""
    return array.reshape(array.shape + (1,) * (rank - array.ndim))


def _joined(found: Mapping[str, Interval], split: Split, old: Array) -> Interval:
    (outer_low, outer_high), (low, high) = found[split.outer], found[split.inner]
    first, last = outer_low * split.factor, outer_high * split.factor
    if split.tail == "shift_inwards":
        first, last = np.minimum(first, old - split.factor), np.minimum(last, old - split.factor)
    low, high = first + low, last + high
    if split.tail in _CLIPPED:
        end = np.maximum(old - 1, 0)
        low, high = np.minimum(low, end), np.minimum(high, end)
    return low, high


def _parted(found: dict[str, Interval], fuse: Fuse, inner: Array) -> None:
    low, high = found[fuse.fused]
    held = np.maximum(inner, 1)
    found[fuse.outer] = low // held, high // held
    # Of more than one round, Halide takes it for granted that they may begin anywhere.
    single = low == high
    found[fuse.inner] = np.where(single, low % held, 0), np.where(single, high % held, held - 1)
