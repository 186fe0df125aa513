"""A nest small enough to be drawn point by point, with the same splits and the same order.

Sizes are cut to the first few rounds of each loop, factors of splits with them: tiles stay tiles,
and a last tile that is not full stays one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.schedule import Primitive, Split
from optimizer.schedules.program import extent_of

_ALONE, _INNERMOST, _OTHERS = 12, 4, 2
"""Rounds at most: of an axis that is not split; else of its innermost loop, and of the others
where there are three or more."""

Splits = Mapping[tuple[str, int, str], Split]


def shrunk(
    algorithm: Algorithm, primitives: Sequence[Primitive]
) -> tuple[Algorithm, tuple[Primitive, ...]]:
    """The same algorithm and order over fewer points.

    Args:
        algorithm: of sizes that are numbers.
        primitives: in which order.
    """
    splits = {(one.func, one.nest, one.loop): one for one in primitives if isinstance(one, Split)}
    factors: dict[tuple[str, int, str], int] = {}

    def axis(func: str, nest: int, one: LoopAxis) -> LoopAxis:
        found = _Shrinking(splits, factors, func, nest)
        return replace(one, extent=found.extent(one.name, extent_of(one)))

    def func(one: Func) -> Func:
        # Axes of a nest that combines are those of the first one, whose splits may be others.
        last = 1 if one.reduction is not None else 0
        axes = [axis(one.name, last, each) for each in one.axes]
        for each in one.axes if last else ():
            axis(one.name, 0, each)
        reduction = one.reduction
        if reduction is not None:
            along = tuple(axis(one.name, 1, each) for each in reduction.axes)
            reduction = replace(reduction, axes=along)
        kept = tuple(axes) if one.name in algorithm.outputs else one.axes
        return replace(one, axes=kept, reduction=reduction)

    made = replace(algorithm, funcs=tuple(func(one) for one in algorithm.funcs))
    return made, tuple(_with_factor(one, factors) for one in primitives)


class _Shrinking:
    """Loops of one nest, and the factors that their splits get."""

    def __init__(
        self, splits: Splits, factors: dict[tuple[str, int, str], int], func: str, nest: int
    ) -> None:
        self._splits, self._factors = splits, factors
        self._func, self._nest = func, nest

    def extent(self, loop: str, extent: int) -> int:
        """How far an axis runs now."""
        leaves = self._leaves(loop)
        if leaves == 1:
            return min(extent, _ALONE)
        most = _INNERMOST if leaves == 2 else _OTHERS
        return self._cut(loop, extent, most, _INNERMOST if leaves < 4 else _OTHERS)

    def _leaves(self, loop: str) -> int:
        split = self._split(loop)
        return 1 if split is None else self._leaves(split.outer) + self._leaves(split.inner)

    def _split(self, loop: str) -> Split | None:
        found = self._splits.get((self._func, self._nest, loop))
        return None if found is None or loop in (found.outer, found.inner) else found

    def _cut(self, loop: str, extent: int, most: int, innermost: int) -> int:
        """An extent whose leaves have `most` rounds, the innermost one as many as is said."""
        split = self._split(loop)
        if split is None or split.factor < 1:
            return min(extent, innermost)
        inner = self._cut(split.inner, split.factor, most, innermost)
        outer = self._cut(split.outer, -(-extent // split.factor), most, most)
        self._factors[self._func, self._nest, loop] = inner
        rest = extent % split.factor
        missing = inner - max(1, rest * inner // split.factor) if rest else 0
        return outer * inner - missing


def _with_factor(one: Primitive, factors: Mapping[tuple[str, int, str], int]) -> Primitive:
    if not isinstance(one, Split):
        return one
    return replace(one, factor=factors.get((one.func, one.nest, one.loop), min(one.factor, 4)))
