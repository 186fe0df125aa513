"""The default schedule: loops that suit most kernels, found from what reads what.

Loops that write outputs come first: rows in parallel, the innermost axis in vectors. A reduction
along neighbours in memory is computed a row at a time, in lanes side by side; one along other axes
for a tile of columns at a time. What is kept for such a round lies in a small piece of memory.

Tails are guarded everywhere: Halide rounds inner loops up otherwise, past the end of a tensor.
Source: measurements of `docs/kernels.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.element_loops import ElementLoops
from optimizer.loops.indexing import affine, extents_of
from optimizer.loops.outputs import OutputNest, output_nests
from optimizer.loops.reach import Place, costs_of, innermost, long_axes, reach_of
from optimizer.loops.scalar import Scalar, Var, variables_of
from optimizer.loops.schedule import (
    AlignStorage,
    Bound,
    ComputeAt,
    ComputeRoot,
    Parallel,
    Primitive,
    Reorder,
    RFactor,
    Schedule,
    Split,
    StoreIn,
    Tail,
    Vectorize,
)
from optimizer.loops.tasks import parallel_loops
from optimizer.loops.turned_rows import turned_rows
from optimizer.loops.vectors import (
    MOST_LANE_VECTORS,
    held_by,
    lanes_of,
    tile_of,
    unrolled,
    vector_loops,
)

MOST_INSTRUCTIONS = 20_000
"""Of one element, with all that is computed inside: beyond, compiling takes minutes."""
STACK_BYTES = 1 << 17
"""Up to here, what is kept for a round lies on the stack, and what is of a free size: Halide takes
memory for that once a task."""


class NoSchedule(Exception):
    """Loops would be bad for this; the text says why."""


def default_schedule(algorithm: Algorithm, vector_bits: int = 512) -> Schedule:
    """Loops for a processor with vectors of so many bits; right on any.

    Raises:
        NoSchedule: they would take minutes to compile, or outputs have different shapes.
    """
    most = max(costs_of(algorithm).values(), default=0)
    if most > MOST_INSTRUCTIONS:
        raise NoSchedule(f"one element takes {most} instructions in one loop")
    nests = output_nests(algorithm)
    if len(nests) != 1:
        raise NoSchedule(f"its outputs have {len(nests)} shapes")
    width = vector_width(algorithm, nests[0], vector_bits)
    rounds = RoundLoops(algorithm, nests[0], width)
    alike = ElementLoops(algorithm, nests[0], rounds.reach, width)
    return Schedule(tuple((rounds if rounds.kept else alike).primitives()))


def vector_width(algorithm: Algorithm, nest: OutputNest, vector_bits: int) -> int:
    """How many elements a vector of a nest's loops holds."""
    types = [algorithm.by_name[name].dtype for name in nest.outputs]
    return vector_bits // max(32, *(dtype.bitwidth for dtype in types))


@dataclass(frozen=True)
class Kept:
    """A Func that is kept for a round of the nest's loops.

    Attributes:
        level: number of the nest's loops that it is inside of.
        vector: the axis that runs along neighbours: of its own, or of its reduction.
        in_lanes: whether that is one of its reduction.
    """

    func: Func
    level: int
    vector: LoopAxis | None
    in_lanes: bool


class RoundLoops:
    """The loops of one nest and of what is kept for its rounds.

    Attributes:
        reach: what the nest needs.
        kept: what of it is kept.
    """

    def __init__(self, algorithm: Algorithm, nest: OutputNest, width: int) -> None:
        self._nest, self._width, self._costs = nest, width, costs_of(algorithm)
        self._axes = long_axes(nest.axes)
        self._last = self._axes[-1] if self._axes else None
        never: frozenset[str] = frozenset()
        while True:
            self.reach = reach_of(algorithm, nest, never)
            self._turned = turned_rows(algorithm, self.reach)
            self.kept = [self._round_of(algorithm.by_name[name]) for name in self.reach.kept]
            self._order = self._ordered()
            self.kept = [replace(one, level=self._level(one.func)) for one in self.kept]
            outside = {
                one.func.name for one in self.kept if not one.level and one.func.reduction is None
            }
            if not outside:
                return
            never |= outside

    def around(self, one: Kept) -> frozenset[str]:
        """The nest's loops that something kept is inside of."""
        return frozenset(axis.name for axis in self._order[: one.level])

    def _round_of(self, func: Func) -> Kept:
        own = long_axes(func.axes)
        reduced = long_axes(func.reduction.axes) if func.reduction else []
        votes = self._votes(func)
        best = max([*own, *reduced], key=lambda axis: votes.get(axis.name, 0), default=None)
        if best is None or func.reduction is None:
            return Kept(func, 0, own[-1] if own else None, in_lanes=False)
        in_lanes = best in reduced and votes.get(best.name, 0) > 0
        if not in_lanes and best not in own:
            best = own[-1] if own else None
        return Kept(func, 0, best, in_lanes=in_lanes)

    def _votes(self, func: Func) -> dict[str, int]:
        """How many reads run along neighbours in memory, by the axis along which they do."""
        found: dict[str, int] = {}
        rounds = {axis.name for axis in func.reduction.axes} if func.reduction else set[str]()
        for tensor, reads in self.reach.reads.items():
            for reader, at in reads:
                moving = reader == func.name and any(rounds & variables_of(one) for one in at)
                last = self._neighbour(tensor, at) if moving else None
                for atom in affine(last, extents_of(func)).factors if last else ():
                    if isinstance(atom, Var):
                        found[atom.name] = found.get(atom.name, 0) + 1
        return found

    def _neighbour(self, tensor: str, at: Place) -> Scalar | None:
        """The index that moves along neighbours, of a copy where rows of it are turned."""
        turned = self._turned
        return at[turned.last] if turned and turned.tensor == tensor else innermost(at)

    def _ordered(self) -> list[LoopAxis]:
        """The nest's axes: those that most of what is kept follows come first."""
        followed = [self.reach.followed(one.func.name) for one in self.kept]
        return sorted(self._axes, key=lambda axis: -sum(axis.name in one for one in followed))

    def _level(self, func: Func) -> int:
        followed = self.reach.followed(func.name)
        inside = (number for number, axis in enumerate(self._order) if axis.name not in followed)
        return next(inside, len(self._order))

    def primitives(self) -> Iterator[Primitive]:
        """What orders them."""
        last = self._last
        following = [
            one for one in self.kept if last and last.name in self.reach.followed(one.func.name)
        ]
        tiled = bool(following) and not any(one.in_lanes for one in following)
        names = [axis.name for axis in self._order]
        turned = None if following else self._turned
        if turned is not None:
            names[self._order.index(turned.across)] = turned.inner
            yield from turned.primitives(self._nest.name, names)
        if tiled and last is not None:
            names[self._order.index(last)] = f"{last.name}t"
            yield from self._tile(last, names)
        else:
            if self._order != self._axes and turned is None:
                yield Reorder(self._nest.name, tuple(names))
            if last is not None and not following:
                yield from self._written(self._nest.name, last)
        loops = [
            (turned.outer, turned.outer.name) if turned and axis == turned.across else (axis, name)
            for axis, name in zip(self._order, names, strict=True)
        ]
        yield from parallel_loops(self._nest.name, loops if following else loops[:-1])
        for one in reversed(self.kept):
            yield from self._keep(one, names, tile=last if tiled else None)

    def _written(self, nest: str, last: LoopAxis) -> Iterator[Primitive]:
        """Vectors of an output's row."""
        tail = self._tail(nest, last, past="predicate_stores", inside="guard_with_if")
        yield from vector_loops(nest, last, self._width, tail=tail)
        instructions = sum(self._costs[name] for name in self._nest.outputs)
        yield from unrolled(nest, last, self._width, instructions=instructions)

    def _tile(self, last: LoopAxis, names: Sequence[str]) -> Iterator[Primitive]:
        nest, tile = self._nest.name, tile_of(last.extent, self._width)
        inner, columns, vector = f"{last.name}j", f"{last.name}o", f"{last.name}v"
        yield Split(nest, last.name, f"{last.name}t", inner, tile)
        yield Split(nest, inner, columns, vector, min(self._width, tile))
        yield Vectorize(nest, vector)
        yield Reorder(nest, (*names, columns, vector))

    def _keep(self, one: Kept, names: Sequence[str], tile: LoopAxis | None) -> Iterator[Primitive]:
        func = one.func
        place = names[one.level - 1] if one.level else ""
        yield ComputeAt(func.name, self._nest.name, place) if place else ComputeRoot(func.name)
        if one.in_lanes and one.vector is not None:
            yield from self._lanes(one, place)
        elif one.vector is not None and func.reduction is not None:
            yield from vector_loops(func.name, one.vector, self._width)
            yield from self._columns(one)
        elif one.vector is not None:
            whole = self._is_whole(func, one.vector, one.level)
            followed = self.reach.places[func.name].get(one.vector.name)
            if whole or (tile is not None and followed == tile.name):
                yield from self._row(func, one.vector, whole=whole)
        held = self._held_elements(one, tile)
        small = bool(place) if held is None else held * func.dtype.bitwidth // 8 <= STACK_BYTES
        if small:
            yield StoreIn(func.name, "stack")

    def _row(self, func: Func, axis: LoopAxis, *, whole: bool) -> Iterator[Primitive]:
        """Vectors of what is kept: a whole row, which they may go past, or a tile."""
        if not whole:
            yield from vector_loops(func.name, axis, self._width)
            return
        yield AlignStorage(func.name, axis.name, MOST_LANE_VECTORS * self._width)
        tail = self._tail(func.name, axis, past="round_up", inside="guard_with_if")
        yield from vector_loops(func.name, axis, self._width, tail=tail)
        yield from unrolled(func.name, axis, self._width, instructions=self._costs[func.name])

    def _columns(self, one: Kept) -> Iterator[Primitive]:
        """All vectors of a tile in each round of the reduction."""
        func, axis = one.func, one.vector
        assert axis is not None, "there is one"
        assert func.reduction is not None, "it is one"
        yield from vector_loops(func.name, axis, self._width, nest=1)
        inner = (f"{axis.name}o", f"{axis.name}v")
        inner = inner if held_by(axis.extent, self._width) > 1 else (axis.name,)
        rounds = [other.name for other in func.reduction.axes]
        yield Reorder(func.name, (*rounds, *inner), nest=1)

    def _lanes(self, one: Kept, place: str) -> Iterator[Primitive]:
        """Sums side by side."""
        func, axis = one.func, one.vector
        assert axis is not None, "there is one"
        assert func.reduction is not None, "it is one"
        made, lane = f"{func.name}_lanes", "lane"
        count = lanes_of(axis.extent, self._width)
        tail = self._tail(func.name, axis, past="round_up", inside="guard_with_if")
        outer = f"{axis.name}o"
        yield Split(func.name, axis.name, outer, f"{axis.name}v", count, tail, nest=1)
        yield RFactor(func.name, f"{axis.name}v", made, lane)
        yield Bound(made, lane, count)
        left = [other for other in long_axes(func.axes) if self._is_whole(func, other, one.level)]
        if left:
            yield ComputeAt(made, func.name, left[-1].name)
        elif place:
            yield ComputeAt(made, self._nest.name, place)
        others = [other.name for other in func.reduction.axes if other.name != axis.name]
        yield Reorder(made, (*others, outer, lane), nest=1)
        if count > 1:
            yield Vectorize(made, lane)
            yield Vectorize(made, lane, nest=1)
        yield from unrolled(made, axis, count, instructions=self._costs[func.name], nest=1)
        if left and not place:
            yield Parallel(func.name, left[0].name)

    def _tail(self, reader: str, axis: LoopAxis, *, past: Tail, inside: Tail) -> Tail:
        """What happens at the end of a row: vectors may go past it where only rows are read."""
        return past if self.reach.stays_in(self._rows(), reader, axis) else inside

    def _rows(self) -> dict[str, int]:
        """The axis along which vectors may go past the end of what is kept."""
        return {
            one.func.name: one.func.axes.index(one.vector)
            for one in self.kept
            if one.func.reduction is None
            and one.vector is not None
            and self._is_whole(one.func, one.vector, one.level)
        }

    def _is_whole(self, func: Func, axis: LoopAxis, level: int) -> bool:
        """Whether a round needs more than one place of an axis."""
        inside = {one.name for one in self._order[:level]}
        return self.reach.places[func.name].get(axis.name) not in inside

    def _held_elements(self, one: Kept, tile: LoopAxis | None) -> int | None:
        """How many are kept at a time; None where that is not known."""
        held = 1
        for axis in long_axes(one.func.axes):
            if self._is_whole(one.func, axis, one.level):
                extent = axis.extent
            else:
                followed = self.reach.places[one.func.name][axis.name]
                extent = tile_of(tile.extent, self._width) if tile and followed == tile.name else 1
            if not isinstance(extent, int):
                return None
            held *= extent
        return held
