"""Loops of an output that lies across what it reads: small squares, turned in registers.

A square of an input is read along neighbours in memory, kept the other way round, and written along
neighbours. At the far edges, the last squares begin earlier and overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import LoopAxis
from optimizer.loops.indexing import Extents, affine
from optimizer.loops.reach import Place, Reach
from optimizer.loops.scalar import Scalar, variables_of
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
from optimizer.loops.tasks import parallel_loops

SIDE = 8
"""Of a square: what is shuffled fits into registers."""


@dataclass(frozen=True, slots=True)
class Turned:
    """An input that an output lies across.

    Attributes:
        tensor: its name.
        rank: how many axes it has.
        last: which of them the output's last axis runs along, wherever it begins.
        across: the output's axis that runs along its neighbours in memory, wherever it begins.
    """

    tensor: str
    rank: int
    last: int
    across: LoopAxis


def turned_input(reach: Reach, axes: Sequence[LoopAxis], width: int) -> Turned | None:
    """The one input that an output lies across, where both sides are long enough for squares."""
    extents = {axis.name: axis.extent for axis in reach.nest.axes}
    found = {
        name: one
        for name in reach.inputs
        for _, at in reach.reads.get(name, {})
        if (one := _turned(name, at, axes, extents)) is not None
    }
    if len(found) != 1:
        return None
    (one,) = found.values()
    sides = (one.across.extent, axes[-1].extent)
    long = all(isinstance(extent, int) and extent >= min(SIDE, width) for extent in sides)
    return one if long and len(reach.reads[one.tensor]) == 1 else None


def _turned(tensor: str, at: Place, axes: Sequence[LoopAxis], extents: Extents) -> Turned | None:
    if not at:
        return None
    last = axes[-1]
    along = [axis for axis in axes[:-1] if axis.extent != 1 and _steps(at[-1], axis, extents)]
    moving = [number for number, one in enumerate(at) if last.name in variables_of(one)]
    if len(along) != 1 or len(moving) != 1 or moving[0] == len(at) - 1:
        return None
    elsewhere = any(along[0].name in variables_of(one) for one in at[:-1])
    if elsewhere or not _steps(at[moving[0]], last, extents):
        return None
    return Turned(tensor, len(at), moving[0], along[0])


def _steps(index: Scalar, axis: LoopAxis, extents: Extents) -> bool:
    """Whether an index goes up by one with an axis, and begins anywhere."""
    factors = affine(index, extents).factors
    return factors.get(axis.var) == 1 and not any(
        axis.name in variables_of(atom) for atom in factors if atom != axis.var
    )


def turned_tiles(
    nest: str, axes: Sequence[LoopAxis], turned: Turned, width: int
) -> Iterator[Primitive]:
    """The loops of a nest that lies across an input."""
    side, across, last = min(SIDE, width), turned.across.name, axes[-1].name
    tile, row, column, vector = f"{across}t", f"{across}r", f"{last}o", f"{last}v"
    made = f"{turned.tensor}_square"
    yield In(turned.tensor, made)
    yield Split(nest, across, tile, row, side, "shift_inwards")
    yield Split(nest, last, column, vector, side, "shift_inwards")
    tiles = LoopAxis(tile, _squares(turned.across, side))
    outer = [tiles if axis == turned.across else axis for axis in axes[:-1]]
    yield Reorder(nest, (*(axis.name for axis in outer), column, row, vector))
    yield Vectorize(nest, vector)
    yield Unroll(nest, row)
    yield from parallel_loops(nest, [(axis, axis.name) for axis in outer])
    yield from square(made, turned.rank, turned.last, nest, column)


def square(made: str, rank: int, last: int, reader: str, loop: str) -> Iterator[Primitive]:
    """A square of an input, kept the other way round.

    Args:
        made: its Func.
        rank: of the input.
        last: the input's axis that becomes the innermost.
        reader: whose loop it is for.
        loop: over squares.
    """
    yield ComputeAt(made, reader, loop)
    own = [f"a{axis}" for axis in range(rank)]
    kept = own.pop(last)
    yield ReorderStorage(made, (*own, kept))
    yield Vectorize(made, own[-1])
    yield Unroll(made, kept)
    yield StoreIn(made, "stack")


def _squares(axis: LoopAxis, side: int) -> int:
    assert isinstance(axis.extent, int), "others have no squares"
    return -(-axis.extent // side)
