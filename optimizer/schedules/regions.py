"""How much of each tensor a round of the loops around needs, and how much of it is computed.

Boxes, as in Halide: of each axis, from the least to the greatest place that is read. Where a Func's
memory lives outside the loop in which it is computed, a round computes only what the one before it
did not: a sliding window.

Source: Ragan-Kelley et al. 2013, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from optimizer.schedules.boxes import (
    Box,
    along,
    ascends,
    box_hull,
    computed_before,
    hull_over,
    moves,
    place_interval,
    sharing_groups,
    whole_box,
)
from optimizer.schedules.intervals import Array
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.places import Spans
from optimizer.schedules.placing import LoopKey, Path, Placed
from optimizer.schedules.program import Stage
from optimizer.schedules.rounds import Rounds, Samples, ranked, rounds_of, samples_of


@dataclass(frozen=True)
class Slide:
    """A window that moves along an axis of a Func.

    Attributes:
        loop: by whose rounds it moves.
        axis: number of the axis.
    """

    loop: LoopKey
    axis: int


class Regions:
    """Boxes of all Funcs that have loops.

    Attributes:
        needed: by Func, what one round of the loops around reads of it.
        computed: by Func, what one round computes of it.
        rounds: by Func and stage, its loops in numbers.
        slides: by Func, its windows.
    """

    def __init__(self, placed: Placed) -> None:
        self.placed = placed
        self.needed: dict[str, Box] = {}
        self.computed: dict[str, Box] = {}
        self.rounds: dict[tuple[str, int], Rounds] = {}
        self.slides: dict[str, list[Slide]] = {}
        self._samples: dict[LoopKey, Samples] = {}
        self._held: dict[str, tuple[int, ...]] = {}
        for name in reversed(list(placed.compute)):
            self._add(name)

    def _add(self, name: str) -> None:
        path, order = self.placed.compute[name], self.placed.orders[name]
        rank, axes = len(path), order.func.axes
        box = None
        if name not in self.placed.program.outputs:
            box = self.box(name, path, (stage.stage for stage in self.placed.stages()))
        if box is None:
            box = whole_box(order.func.shape, rank)
        for number, axis in enumerate(axes):
            if axis.name in order.bounds:
                last = ranked(np.asarray(order.bounds[axis.name] - 1), rank)
                box = (*box[:number], (np.zeros_like(last), last), *box[number + 1 :])
            elif axis.name in order.extents:
                low, _ = box[number]
                ends = low, low + order.extents[axis.name] - 1
                box = (*box[:number], ends, *box[number + 1 :])
        self.needed[name] = box
        self.computed[name] = self._slid(name, box)
        names = [axis.name for axis in axes]
        given = dict(zip(names, self.computed[name], strict=True))
        for stage in order.stages:
            self.rounds[name, stage.stage.number] = rounds_of(stage, given, rank)

    def samples(self, key: LoopKey) -> Samples:
        """Rounds of a loop."""
        if key not in self._samples:
            rounds = self.rounds[key.func, key.stage]
            extent = int(rounds.extents[key.name].max(initial=0))
            self._samples[key] = samples_of(extent, alike=key.name not in rounds.mixed)
        return self._samples[key]

    def extent(self, key: LoopKey) -> Array:
        """How often a loop runs, for each round of the loops around its Func."""
        return self.rounds[key.func, key.stage].extents[key.name]

    def box(self, tensor: str, path: Path, stages: Iterable[Stage]) -> Box | None:
        """What one round of these loops reads of a tensor; None where it reads nothing.

        Args:
            tensor: an input or a Func.
            path: the loops.
            stages: that count; those outside of the loops do not.
        """
        found: Box | None = None
        for stage in stages:
            if (stage.func, stage.number) not in self.rounds:
                continue
            if tensor not in self.placed.reading.of(stage):
                continue
            if self.placed.path(stage)[: len(path)] == path:
                one = self._read_by(tensor, stage, path)
                found = one if found is None else box_hull(found, one)
        return found

    def boxes_apart(self, tensor: str, path: Path, stages: Iterable[Stage]) -> list[Box]:
        """The same as one box for each way in which indices are made of variables; none for one."""
        groups = [
            (stage, spans)
            for stage in stages
            if tensor in self.placed.reading.of(stage)
            for spans in self.placed.reading.groups(stage, tensor)
        ]
        if len(groups) < 2:
            return []
        return [self._read_by(tensor, stage, path, spans) for stage, spans in groups]

    def _read_by(self, tensor: str, stage: Stage, path: Path, spans: Spans | None = None) -> Box:
        rounds = self.rounds[stage.func, stage.number]
        rank = max(rounds.depth, len(path))
        own = self.placed.path(stage)[rounds.depth : rank]
        fixed = {key.name: self.indices(key, rounds.depth + at, rank) for at, key in enumerate(own)}
        variables = rounds.variables(fixed, rank)
        spans = self.placed.reading.spans(stage, tensor) if spans is None else spans
        shape = self.placed.program.shape(tensor)
        box = [
            place_interval(span, variables, size, rank)
            for span, size in zip(spans, shape, strict=True)
        ]
        return tuple(hull_over(ends, len(path)) for ends in box)

    def written(self, stage: StageLoops, path: Path) -> Box:
        """What one round of these loops computes of a Func, in one of its stages."""
        rounds = self.rounds[stage.stage.func, stage.stage.number]
        rank = max(rounds.depth, len(path))
        own = self.placed.path(stage.stage)[rounds.depth : rank]
        fixed = {key.name: self.indices(key, rounds.depth + at, rank) for at, key in enumerate(own)}
        found = rounds.variables(fixed, rank)
        return tuple(hull_over(found[axis.name], len(path)) for axis in stage.stage.axes)

    def indices(self, key: LoopKey, at: int, rank: int) -> Array:
        """The sampled rounds of a loop, along their axis of arrays."""
        return along(self.samples(key).indices, at, rank)

    def _slid(self, name: str, box: Box) -> Box:
        """What a round computes that rounds before it did not."""
        path, store = self.placed.compute[name], self.placed.store[name]
        found = self.slides[name] = list(self._windows(path, len(store), box))
        lows = [low for low, _ in box]
        for slide in reversed(found):
            at, high = path.index(slide.loop), box[slide.axis][1]
            inner = [path.index(o.loop) for o in found if o.axis == slide.axis]
            before = computed_before(
                high, at, [one for one in inner if one > at], self.samples(slide.loop)
            )
            lows[slide.axis] = np.maximum(lows[slide.axis], np.minimum(before, high) + 1)
        return tuple((low, ends[1]) for low, ends in zip(lows, box, strict=True))

    def _windows(self, path: Path, first: int, box: Box) -> Iterable[Slide]:
        for at in range(first, len(path)):
            moving = [axis for axis, ends in enumerate(box) if any(moves(one, at) for one in ends)]
            if len(moving) != 1 or self.placed.run(path[at]) not in ("serial", "unrolled"):
                continue
            low, high = box[moving[0]]
            if ascends(low, at) and ascends(high, at):
                yield Slide(path[at], moving[0])

    def usual(self, array: Array, path: Path) -> int:
        """The value in a round in the middle of all loops."""
        where = tuple(
            self.samples(key).middle if size > 1 else 0
            for key, size in zip(path, array.shape, strict=True)
        )
        return int(array[where])

    def held(self, name: str) -> tuple[int, ...]:
        """What has to be in memory of a Func at a time: of a window, what a round reads."""
        if name not in self._held:
            self._held[name] = self._found_held(name)
        return self._held[name]

    def _found_held(self, name: str) -> tuple[int, ...]:
        path = self.placed.compute[name]
        between = path[len(self.placed.store[name]) :]
        slid = {slide.axis for slide in self.slides[name]}
        found: list[int] = []
        for axis, (low, high) in enumerate(self.needed[name]):
            outer = low.ndim - len(between)
            if axis in slid:
                found.append(self.usual(high - low + 1, path))
                continue
            low, high = hull_over((low, high), outer)
            found.append(self.usual(high - low + 1, path[:outer]))
        return tuple(found)

    def total(self, factors: Sequence[NDArray[np.generic]], path: Path) -> float:
        """The sum over all rounds of a path of the product of factors."""
        rank, loops = len(path), range(len(path))
        arrays = [np.asarray(one, float) for one in factors]
        for at, key in enumerate(path):
            extent = ranked(self.extent(key), rank)
            arrays.append((self.indices(key, at, rank) < extent).astype(float))
        weights = [self.samples(key).weights for key in path]
        groups = sharing_groups([{at for at in loops if one.shape[at] > 1} for one in arrays])
        total = 1.0
        for axes, members in groups:
            product = reduce(
                np.multiply, [arrays[number] for number in members], np.ones([1] * rank)
            )
            for at in axes:
                product = product * along(weights[at], at, rank)
            total *= float(product.sum())
        alone = set(loops) - {at for axes, _ in groups for at in axes}
        return total * float(np.prod([weights[at].sum() for at in alone]))

    def executions(self, stage: StageLoops) -> float:
        """How often what a stage computes is computed, from first to last."""
        rounds = self.rounds[stage.stage.func, stage.stage.number]
        path = self.placed.compute[stage.stage.func]
        return self.total([*rounds.extents.values(), *rounds.valid], path)
