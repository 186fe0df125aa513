"""The loops of a nest whose elements are alike: nothing is kept from round to round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, LoopAxis
from optimizer.loops.outputs import OutputNest
from optimizer.loops.reach import Reach, innermost, long_axes
from optimizer.loops.scalar import Apply, Element, Scalar, Var, parts_of
from optimizer.loops.schedule import Fuse, Parallel, Primitive, Reorder, Split, Unroll
from optimizer.loops.tasks import parallel_loops
from optimizer.loops.transposed_tiles import turned_input, turned_tiles
from optimizer.loops.turned_rows import TurnedRows, turned_rows
from optimizer.loops.turned_values import turned_value_loops, turned_values
from optimizer.loops.vectors import held_by, vector_loops

CHUNK = 8192
"""Elements of one task, where rows do not make tasks."""
UNROLLED = 16
"""Vectors of a row that are written out where each computes something else."""


class ElementLoops:
    """Loops over all elements of an output."""

    def __init__(self, algorithm: Algorithm, nest: OutputNest, reach: Reach, width: int) -> None:
        self._algorithm, self._nest, self._reach, self._width = algorithm, nest, reach, width
        self._axes = long_axes(nest.axes)
        self._last = self._axes[-1] if self._axes else None

    def primitives(self) -> Iterator[Primitive]:
        """What orders them."""
        if self._last is None:
            return
        values = turned_values(self._algorithm, self._nest, self._reach)
        if values is not None:
            yield from turned_value_loops(self._nest.name, self._axes, values)
            return
        turned = turned_input(self._reach, self._axes, self._width)
        if turned is not None and not self._computes_with_places():
            yield from turned_tiles(self._nest.name, self._axes, turned, self._width)
            return
        rows = turned_rows(self._algorithm, self._reach)
        if rows is not None and rows.merged:
            yield from self._in_turned_rows(rows, self._last)
            return
        nest, group = self._nest.name, self._merged()
        fused = group[-1]
        for axis in reversed(group[:-1]):
            both = LoopAxis(f"{axis.name}{fused.name}", axis.extent * fused.extent)
            yield Fuse(nest, axis.name, fused.name, both.name)
            fused = both
        outer = self._axes[: -len(group)]
        across = None if len(group) > 1 else self._read_across(outer)
        if not outer and _is_long(fused.extent):
            yield Split(nest, fused.name, f"{fused.name}c", f"{fused.name}i", CHUNK)
            yield Parallel(nest, f"{fused.name}c")
            yield from vector_loops(nest, LoopAxis(f"{fused.name}i", CHUNK), self._width)
        elif across is not None:
            yield from self._across(outer, across, fused)
        else:
            yield from vector_loops(nest, fused, self._width)
            if self._chooses(fused):
                yield Unroll(nest, f"{fused.name}o")
            loops = [(axis, axis.name) for axis in outer]
            yield from parallel_loops(nest, loops)

    def _in_turned_rows(self, rows: TurnedRows, last: LoopAxis) -> Iterator[Primitive]:
        """A row of a copy after the other."""
        nest, outer = self._nest.name, self._axes[:-1]
        names = [rows.inner if axis == rows.across else axis.name for axis in self._axes]
        yield from rows.primitives(nest, names)
        yield from vector_loops(nest, last, self._width)
        loops = [rows.outer if axis == rows.across else axis for axis in outer]
        yield from parallel_loops(nest, [(axis, axis.name) for axis in loops])

    def _across(
        self, outer: Sequence[LoopAxis], across: LoopAxis, last: LoopAxis
    ) -> Iterator[Primitive]:
        """Tiles of what is read along one axis and written along another."""
        nest = self._nest.name
        tile, row = f"{across.name}t", f"{across.name}r"
        yield Split(nest, across.name, tile, row, self._width)
        yield from vector_loops(nest, last, self._width)
        split = held_by(last.extent, self._width) > 1
        inner = (f"{last.name}o", row, f"{last.name}v") if split else (row, last.name)
        others = [axis.name for axis in outer if axis != across]
        yield Reorder(nest, (*others, tile, *inner))
        yield Parallel(nest, others[0] if others else tile)
        if others:
            yield Parallel(nest, tile)

    def _read_across(self, outer: Sequence[LoopAxis]) -> LoopAxis | None:
        """An outer axis along which a tensor that has the last one, too, lies in memory."""
        assert self._last is not None, "there are axes"
        for reads in self._reach.reads.values():
            for _, at in reads:
                along = [axis for axis in outer if axis.var == innermost(at)]
                if along and self._last.var in at:
                    return along[0]
        return None

    def _merged(self) -> list[LoopAxis]:
        """The innermost axes that all tensors have side by side, or none of them has."""
        group = [self._axes[-1]]
        if self._computes_with_places():
            return group
        for axis in reversed(self._axes[:-1]):
            size = prod(one.extent for one in group if isinstance(one.extent, int))
            numbers = all(isinstance(one.extent, int) for one in group)
            if not numbers or size < 1 or not self._side_by_side(axis, group):
                break
            group.insert(0, axis)
        return group

    def _side_by_side(self, axis: LoopAxis, group: Sequence[LoopAxis]) -> bool:
        wanted = [axis.var, *(one.var for one in group)]
        names = {one.name for one in wanted}
        for tensor, reads in self._reach.reads.items():
            for _, at in reads:
                used = [place for place, one in enumerate(at) if _variables(one) & names]
                if not used:
                    continue
                shape = self._shape(tensor)
                same = [at[place] for place in used] == wanted and [
                    shape[place] for place in used[1:]
                ] == [one.extent for one in group]
                if not same or used != list(range(used[0], used[0] + len(wanted))):
                    return False
        return True

    def _shape(self, tensor: str) -> Sequence[Dimension]:
        func = self._algorithm.by_name.get(tensor)
        if func is not None:
            return func.shape
        return next(one.shape for one in self._algorithm.inputs if one.name == tensor)

    def _computes_with_places(self) -> bool:
        """Whether indices are more than places: compared, or numbers of the result."""
        return any(
            not isinstance(part, Element) and any(isinstance(one, Var) for one in _operands(part))
            for name in self._reach.reads
            if (func := self._algorithm.by_name.get(name)) is not None
            for part in _outside_indices(func.body)
        )

    def _chooses(self, axis: LoopAxis) -> bool:
        """Whether vectors of a short row compute different things."""
        if not isinstance(axis.extent, int) or not 1 < axis.extent <= UNROLLED * self._width:
            return False
        return self._computes_with_places()


def _outside_indices(body: Scalar) -> Iterator[Scalar]:
    """An expression's parts without the indices of its elements."""
    left = [body]
    while left:
        one = left.pop()
        yield one
        left += _operands(one)


def _operands(scalar: Scalar) -> tuple[Scalar, ...]:
    return scalar.arguments if isinstance(scalar, Apply) else ()


def _variables(scalar: Scalar) -> set[str]:
    return {part.name for part in parts_of(scalar) if isinstance(part, Var)}


def _is_long(extent: Dimension) -> bool:
    return not isinstance(extent, int) or extent > CHUNK
