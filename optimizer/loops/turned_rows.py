"""Rows of a nest that lie across what it reads: some of them at a time are turned first.

Where a norm runs over channels and its input has pixels side by side, a row of pixels with all of
their channels is copied the other way round, in squares that are turned in registers. What follows
reads the copy, and is a norm along neighbours in memory as any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.reach import Place, Reach, long_axes
from optimizer.loops.scalar import Apply, Number, Scalar, Var, variables_of
from optimizer.loops.schedule import (
    ComputeAt,
    In,
    Primitive,
    Reorder,
    ReorderStorage,
    Split,
    StoreIn,
    Unroll,
    Vectorize,
)
from optimizer.loops.transposed_tiles import SIDE, square

COPY_BYTES = 1 << 15
"""Of what is turned at a time: it stays in the first cache."""
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class TurnedRows:
    """An input that all rows of a nest lie across.

    Attributes:
        tensor: its name.
        shape: of it; numbers.
        last: which of its axes the rows follow.
        across: the nest's axis that runs along its neighbours in memory.
        merged: whether that one runs along its last two axes.
    """

    tensor: str
    shape: tuple[int, ...]
    last: int
    across: LoopAxis
    merged: bool

    @property
    def rows(self) -> int:
        """How many are turned at a time."""
        width = self.shape[-1]
        fitting = COPY_BYTES // (4 * self.shape[self.last])
        return width if self.merged or width <= max(fitting, 2 * SIDE) else 2 * SIDE

    @property
    def outer(self) -> LoopAxis:
        """The loop over such groups of rows."""
        assert isinstance(self.across.extent, int), "others are not turned"
        return LoopAxis(f"{self.across.name}t", -(-self.across.extent // self.rows))

    @property
    def inner(self) -> str:
        """The loop inside of one."""
        return f"{self.across.name}r"

    def primitives(self, nest: str, names: Sequence[str]) -> Iterator[Primitive]:
        """The nest's loops, and the copy.

        Args:
            nest: of the output.
            names: of its loops in their order, `inner` among them.
        """
        tile, rank = f"{self.tensor}_rows", len(self.shape)
        made = f"{self.tensor}_square"
        yield In(self.tensor, made)
        yield In(self.tensor, tile)
        outer = self.outer.name
        yield Split(nest, self.across.name, outer, self.inner, self.rows, "shift_inwards")
        at = list(names).index(self.inner)
        yield Reorder(nest, (*names[:at], outer, *names[at:]))
        yield ComputeAt(tile, nest, outer)
        own = [f"a{axis}" for axis in range(rank)]
        row, column = own[-1], own.pop(self.last)
        sides = [min(SIDE, self.shape[axis]) for axis in (-1, self.last)]
        yield ReorderStorage(tile, (*own, column))
        for name, side in zip((row, column), sides, strict=True):
            yield Split(tile, name, f"{name}o", f"{name}v", side, "shift_inwards")
        yield Reorder(tile, (*own[:-1], f"{column}o", f"{row}o", f"{row}v", f"{column}v"))
        yield Vectorize(tile, f"{column}v")
        yield Unroll(tile, f"{row}v")
        yield StoreIn(tile, "stack")
        yield from square(made, rank, self.last, tile, f"{row}o")


def turned_rows(algorithm: Algorithm, reach: Reach) -> TurnedRows | None:
    """The one input that rows lie across, wherever it is read."""
    found: set[TurnedRows | None] = set()
    for tensor in algorithm.inputs:
        if not tensor.shape or not all(isinstance(size, int) for size in tensor.shape):
            continue
        shape = tuple(size for size in tensor.shape if isinstance(size, int))
        reads = reach.reads.get(tensor.name, {})
        told = {_read(algorithm, reach, tensor.name, shape, one) for one in reads}
        if len(told) == 1:
            found |= told
        elif told - {None}:
            return None
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _read(
    algorithm: Algorithm, reach: Reach, tensor: str, shape: tuple[int, ...], read: tuple[str, Place]
) -> TurnedRows | None:
    reader, at = read
    pixel, merged = _pixel(at, shape)
    func = None if reader == reach.nest.name else algorithm.by_name[reader]
    column = _column(func, reach)
    if pixel is None or column is None:
        return None
    loop = pixel.name if func is None else reach.places[reader].get(pixel.name)
    across = next((axis for axis in reach.nest.axes if axis.name == loop), None)
    moving = [number for number, one in enumerate(at) if column.name in variables_of(one)]
    plain = len(moving) == 1 and at[moving[0]] == column.var
    if across is None or not plain or moving[0] >= len(shape) - (2 if merged else 1):
        return None
    if across == long_axes(reach.nest.axes)[-1] or not isinstance(across.extent, int):
        return None
    if min(shape[-1], shape[moving[0]]) < _FEWEST or column.extent != shape[moving[0]]:
        return None
    made = TurnedRows(tensor, shape, moving[0], across, merged)
    fits = made.rows * shape[made.last] * 4 <= 2 * COPY_BYTES
    whole = not merged or across.extent % shape[-1] == 0
    return made if fits and whole and across.extent >= made.rows else None


def _pixel(at: Place, shape: Sequence[int]) -> tuple[Var | None, bool]:
    """The variable that runs along the last axis, or along the last two."""
    if isinstance(at[-1], Var):
        others = {name for one in at[:-1] for name in variables_of(one)}
        return (None if at[-1].name in others else at[-1]), False
    if len(at) < 2:
        return None, False
    rest, whole = _parted(at[-1], "floor_mod", shape[-1]), _parted(at[-2], "floor_div", shape[-1])
    return (rest, True) if rest is not None and rest == whole else (None, False)


def _parted(place: Scalar, function: str, width: int) -> Var | None:
    if not isinstance(place, Apply) or place.function != function:
        return None
    first, second = place.arguments
    fits = isinstance(second, Number) and second.value == width
    return first if fits and isinstance(first, Var) else None


def _column(func: Func | None, reach: Reach) -> LoopAxis | None:
    """What runs along a row of a reader: its reduction, or its last axis."""
    if func is not None and func.reduction is not None:
        axes = long_axes(func.reduction.axes)
        return axes[0] if len(axes) == 1 else None
    axes = long_axes(reach.nest.axes if func is None else func.axes)
    return axes[-1] if axes else None
