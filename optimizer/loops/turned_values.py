"""Loops of an output whose values are computed across it: where what they read lies side by side.

A copy of what is computed, and what that reads has another axis along neighbours in memory: values
are computed in vectors along that one, a square at a time, turned in registers, and written along
neighbours. At the far edges, the last squares begin earlier and overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.outputs import OutputNest
from optimizer.loops.reach import Reach, innermost, long_axes
from optimizer.loops.scalar import Element, variables_of
from optimizer.loops.schedule import (
    ComputeAt,
    Primitive,
    Reorder,
    ReorderStorage,
    Split,
    StoreIn,
    Unroll,
    Vectorize,
)
from optimizer.loops.tasks import parallel_loops
from optimizer.loops.transposed_tiles import SIDE


@dataclass(frozen=True, slots=True)
class TurnedValues:
    """What is computed across an output.

    Attributes:
        func: the Func that the output is a copy of.
        across: the axis along neighbours in memory of all that it reads; it is the output's, too.
    """

    func: Func
    across: LoopAxis


def turned_values(algorithm: Algorithm, nest: OutputNest, reach: Reach) -> TurnedValues | None:
    """What an output is a copy of, where all that is read for it lies along an outer axis."""
    func = _copied(algorithm, nest)
    axes = long_axes(nest.axes)
    if func is None or len(axes) < 2:
        return None
    along = {axis.var: axis for axis in axes[:-1]}
    found: set[LoopAxis] = set()
    for tensor in reach.inputs:
        for _, at in reach.reads.get(tensor, {}):
            inner = innermost(at)
            if inner is None:
                continue
            if inner not in along:
                return None
            axis = along[inner]
            if sum(axis.name in variables_of(one) for one in at) > 1:
                return None
            found.add(axis)
    sides = (*found, axes[-1])
    long = all(isinstance(axis.extent, int) and axis.extent >= SIDE for axis in sides)
    return TurnedValues(func, found.pop()) if len(found) == 1 and long else None


def _copied(algorithm: Algorithm, nest: OutputNest) -> Func | None:
    """The Func that an output is a copy of, place by place."""
    made = algorithm.by_name.get(nest.name)
    body = None if made is None else made.body
    if made is None or not isinstance(body, Element) or made.reduction is not None:
        return None
    func = algorithm.by_name.get(body.tensor)
    alike = func is not None and func.reduction is None and func.shape == made.shape
    same = body.indices == tuple(axis.var for axis in made.axes)
    return func if alike and same and body.dtype == made.dtype else None


def turned_value_loops(
    nest: str, axes: Sequence[LoopAxis], values: TurnedValues
) -> Iterator[Primitive]:
    """The loops of such a nest, and of what is computed for a square."""
    across, last = values.across.name, axes[-1].name
    tile, row, column, vector = f"{across}t", f"{across}r", f"{last}o", f"{last}v"
    yield Split(nest, across, tile, row, SIDE, "shift_inwards")
    yield Split(nest, last, column, vector, SIDE, "shift_inwards")
    assert isinstance(values.across.extent, int), "others have no squares"
    tiles = LoopAxis(tile, -(-values.across.extent // SIDE))
    outer = [tiles if axis == values.across else axis for axis in axes[:-1]]
    yield Reorder(nest, (*(axis.name for axis in outer), column, row, vector))
    yield Vectorize(nest, vector)
    yield Unroll(nest, row)
    yield from parallel_loops(nest, [(axis, axis.name) for axis in outer])
    yield from _square(values, nest, last, column)


def _square(values: TurnedValues, nest: str, last: str, loop: str) -> Iterator[Primitive]:
    """The values of a square, those along the input's neighbours side by side."""
    func, across = values.func, values.across.name
    yield ComputeAt(func.name, nest, loop)
    inner = (last, across)
    order = [axis.name for axis in func.axes if axis.name not in inner]
    yield Reorder(func.name, (*order, *inner))
    yield ReorderStorage(func.name, (*order, *inner))
    yield Vectorize(func.name, across)
    yield Unroll(func.name, last)
    yield StoreIn(func.name, "stack")
