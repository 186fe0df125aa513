"""How much of each tensor a round of the loops around needs, and how much of it is computed.

Boxes, as in Halide: of each axis, from the least to the greatest place that is read. Where a Func's
memory lives outside the loop in which it is computed, a round computes only what the one before it
did not: a sliding window.

Source: Ragan-Kelley et al. 2013, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.loops.schedule import Split
from optimizer.schedules.intervals import Array, Interval, terms_interval
from optimizer.schedules.ordering import Refused, StageLoops
from optimizer.schedules.places import Spans, Terms
from optimizer.schedules.placing import LoopKey, Path, Placed
from optimizer.schedules.program import Stage, extent_of
from optimizer.schedules.rounds import Rounds, Samples, ranked, rounds_of, samples_of

Box = tuple[Interval, ...]
"""One interval for each axis, the outermost first; arrays have one axis for each loop around."""
_NOWHERE = -(1 << 60)


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
            box = _whole(order.func.shape, rank)
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
                found = one if found is None else _hull(found, one)
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
        box = [_span(span, variables, size, rank) for span, size in zip(spans, shape, strict=True)]
        return tuple(_over(ends, len(path)) for ends in box)

    def written(self, stage: StageLoops, path: Path) -> Box:
        """What one round of these loops computes of a Func, in one of its stages."""
        rounds = self.rounds[stage.stage.func, stage.stage.number]
        rank = max(rounds.depth, len(path))
        own = self.placed.path(stage.stage)[rounds.depth : rank]
        fixed = {key.name: self.indices(key, rounds.depth + at, rank) for at, key in enumerate(own)}
        found = rounds.variables(fixed, rank)
        return tuple(_over(found[axis.name], len(path)) for axis in stage.stage.axes)

    def indices(self, key: LoopKey, at: int, rank: int) -> Array:
        """The sampled rounds of a loop, along their axis of arrays."""
        return _along(self.samples(key).indices, at, rank)

    def _slid(self, name: str, box: Box) -> Box:
        """What a round computes that rounds before it did not."""
        path, store = self.placed.compute[name], self.placed.store[name]
        found = self.slides[name] = list(self._windows(path, len(store), box))
        lows = [low for low, _ in box]
        for slide in reversed(found):
            at, high = path.index(slide.loop), box[slide.axis][1]
            inner = [path.index(o.loop) for o in found if o.axis == slide.axis]
            before = _before(high, at, [one for one in inner if one > at], self.samples(slide.loop))
            lows[slide.axis] = np.maximum(lows[slide.axis], np.minimum(before, high) + 1)
        return tuple((low, ends[1]) for low, ends in zip(lows, box, strict=True))

    def _windows(self, path: Path, first: int, box: Box) -> Iterable[Slide]:
        for at in range(first, len(path)):
            moving = [axis for axis, ends in enumerate(box) if any(_moves(one, at) for one in ends)]
            if len(moving) != 1 or self.placed.run(path[at]) not in ("serial", "unrolled"):
                continue
            low, high = box[moving[0]]
            if _ascends(low, at) and _ascends(high, at):
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
            low, high = _over((low, high), outer)
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
        groups = _groups([{at for at in loops if one.shape[at] > 1} for one in arrays])
        total = 1.0
        for axes, members in groups:
            product = reduce(
                np.multiply, [arrays[number] for number in members], np.ones([1] * rank)
            )
            for at in axes:
                product = product * _along(weights[at], at, rank)
            total *= float(product.sum())
        alone = set(loops) - {at for axes, _ in groups for at in axes}
        return total * float(np.prod([weights[at].sum() for at in alone]))

    def executions(self, stage: StageLoops) -> float:
        """How often what a stage computes is computed, from first to last."""
        rounds = self.rounds[stage.stage.func, stage.stage.number]
        path = self.placed.compute[stage.stage.func]
        return self.total([*rounds.extents.values(), *rounds.valid], path)


def regions_of(placed: Placed) -> Regions:
    """Boxes of all Funcs.

    Raises:
        Refused: a loop cannot run as it is said to, given how long it is.
    """
    found = Regions(placed)
    for stage in placed.stages():
        rounds = found.rounds[stage.stage.func, stage.stage.number]
        if stage.stage.func in placed.program.outputs:
            _refuse_tails(stage, rounds, placed.program.shape(stage.stage.func))
        _refuse_short(stage, rounds)
        for slide in found.slides[stage.stage.func]:
            _refuse_shifts(stage, stage.stage.axes[slide.axis].name)
        if stage.stage.func not in placed.program.outputs:
            _refuse_reads(found, stage, rounds)
            _refuse_parts(found, stage)
        for name, run in stage.runs.items():
            extents = rounds.extents[name]
            if run in ("vector", "unrolled") and extents.min() != extents.max():
                raise Refused(
                    f"loop {name} of {stage.stage.func} runs {extents.min()} to {extents.max()} "
                    f"times: {'vectors need' if run == 'vector' else 'unrolling needs'} one number"
                )
    return found


def _refuse_tails(stage: StageLoops, rounds: Rounds, shape: Sequence[int]) -> None:
    """Refuse loops that write past the end of an output."""
    variables = rounds.variables({}, rounds.depth)
    for axis, size in zip(stage.stage.axes, shape, strict=True):
        if int(variables[axis.name][1].max(initial=0)) >= size:
            raise Refused(
                f"loops over {axis.name} go past its {size} places, and {stage.stage.func} is an "
                "output: another tail, or a factor that divides, is needed"
            )


def _refuse_short(stage: StageLoops, rounds: Rounds) -> None:
    """Refuse loops that are shifted to before the start of the loop that they are a part of."""
    axes = {axis.name for axis in stage.stage.axes}
    for split, least in rounds.short:
        if split.loop not in axes:
            raise Refused(
                f"loop {split.loop} of {stage.stage.func} has {least} rounds, and {split.factor} "
                "of them shifted inwards go past its start: another tail is needed"
            )


def _refuse_reads(found: Regions, stage: StageLoops, rounds: Rounds) -> None:
    """Refuse loops that go past what is needed of a Func, if they read past the end of an input."""
    computed = found.computed[stage.stage.func]
    needed = dict(zip((axis.name for axis in stage.stage.axes), computed, strict=True))
    for axis in stage.stage.reduced:
        needed[axis.name] = np.asarray(0), np.asarray(extent_of(axis) - 1)
    needed = {
        name: (ranked(low, rounds.depth), ranked(high, rounds.depth))
        for name, (low, high) in needed.items()
    }
    looped = rounds.variables({}, rounds.depth)
    if all(np.array_equal(looped[name], needed[name]) for name in needed):
        return
    for tensor, shape in found.placed.program.inputs.items():
        if tensor not in found.placed.reading.of(stage.stage):
            continue
        spans = found.placed.reading.spans(stage.stage, tensor)
        for span, size in zip(spans, shape, strict=True):
            if any(_leaves(one, size, looped, needed) for one in span.items()):
                raise Refused(
                    f"loops of {stage.stage.func} go past what is needed of it, and so past the "
                    f"{size} places of {tensor}: another tail, or a factor that divides, is needed"
                )


def _refuse_parts(found: Regions, stage: StageLoops) -> None:
    """Refuse a window over an input that moves by two parts of one loop.

    Halide begins it so much earlier that it reads before the start.
    """
    placed = found.placed
    if not any(tensor in placed.program.inputs for tensor in placed.reading.of(stage.stage)):
        return
    moved: dict[tuple[str, int, str, int], str] = {}
    for slide in found.slides[stage.stage.func]:
        key = slide.loop
        whole = _whole_loop(placed.orders[key.func].stages[key.stage], key.name)
        before = moved.setdefault((key.func, key.stage, whole, slide.axis), key.name)
        if before != key.name:
            raise Refused(
                f"the window of {stage.stage.func} moves by {before} and {key.name}, parts of one "
                f"loop, and would begin before the start of what it reads: keep it in {before}"
            )


def _whole_loop(stage: StageLoops, loop: str) -> str:
    """The loop that one is a part of."""
    for step in reversed(stage.made):
        if isinstance(step, Split) and loop in (step.outer, step.inner):
            loop = step.loop
    return loop


def _leaves(
    span: tuple[Terms, tuple[int, int]],
    size: int,
    looped: Mapping[str, Interval],
    needed: Mapping[str, Interval],
) -> bool:
    """Whether an index leaves its axis in loops, and does not so in what is needed."""
    terms, (least, most) = span
    ends, told = terms_interval(terms, looped), terms_interval(terms, needed)
    if ends is None or told is None:
        return False
    after = int(np.max(ends[1])) > max(int(np.max(told[1])), size - 1 - most)
    return after or int(np.min(ends[0])) < min(int(np.min(told[0])), -least)


def _refuse_shifts(stage: StageLoops, axis: str) -> None:
    """Refuse loops along a window that go past what is new in a round: they would leave inputs."""
    along = {axis}
    for step in stage.made:
        if isinstance(step, Split) and step.loop in along:
            along |= {step.outer, step.inner}
            if step.tail in ("shift_inwards", "round_up"):
                raise Refused(
                    f"{step.tail} computes more of {step.func} along {axis} than a round of its "
                    "window adds: another tail is needed"
                )


def _whole(shape: Sequence[int], rank: int) -> Box:
    ends = [(np.asarray(0), np.asarray(size - 1)) for size in shape]
    return tuple((ranked(low, rank), ranked(high, rank)) for low, high in ends)


def _span(
    span: Mapping[Terms, tuple[int, int]], variables: Mapping[str, Interval], size: int, rank: int
) -> Interval:
    """Places that an axis has: others are read under a condition, or not at all."""
    found: list[Interval] = []
    for terms, (least, most) in span.items():
        ends = terms_interval(terms, variables)
        low, high = (np.asarray(0), np.asarray(size - 1)) if ends is None else ends
        found.append((low + least, high + most) if ends is not None else (low, high))
    low, high = reduce(_hull_of, found)
    held = (ranked(np.clip(one, 0, max(size - 1, 0)), rank) for one in (low, high))
    return next(held), next(held)


def _over(ends: Interval, rank: int) -> Interval:
    """The hull over loops inside of the first so many."""
    if rank == ends[0].ndim:
        return ends
    inner = tuple(range(rank, ends[0].ndim))
    low, high = np.broadcast_arrays(*ends)
    return low.min(axis=inner), high.max(axis=inner)


def _hull(one: Box, other: Box) -> Box:
    return tuple(_hull_of(a, b) for a, b in zip(one, other, strict=True))


def _hull_of(one: Interval, other: Interval) -> Interval:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _along(values: NDArray[np.generic], at: int, rank: int) -> Array:
    shape = [1] * rank
    shape[at] = -1
    found: Any = values.reshape(shape)
    return found


def _moves(array: Array, at: int) -> bool:
    return array.shape[at] > 1 and bool(np.any(np.diff(array, axis=at)))


def _ascends(array: Array, at: int) -> bool:
    return bool(np.all(np.diff(array, axis=at) >= 0))


def _before(high: Array, at: int, inner: Sequence[int], samples: Samples) -> Array:
    """Up to where the round before has computed; nowhere for the first."""
    last = high.max(axis=tuple(inner), keepdims=True) if inner else high
    if last.shape[at] == 1:
        return np.full_like(last, _NOWHERE)
    found = np.roll(last, 1, axis=at)
    follows = np.diff(samples.indices, prepend=-2) == 1
    return np.where(_along(follows, at, high.ndim), found, _NOWHERE)


def _groups(used: Sequence[set[int]]) -> list[tuple[set[int], list[int]]]:
    """Arrays that share axes, and the axes: what does not share any can be summed on its own."""
    groups: list[tuple[set[int], list[int]]] = []
    for number, axes in enumerate(used):
        joined = [one for one in groups if one[0] & axes]
        merged = set(axes).union(*(one[0] for one in joined))
        members = [number, *(other for one in joined for other in one[1])]
        groups = [one for one in groups if one not in joined]
        groups.append((merged, members))
    return groups
