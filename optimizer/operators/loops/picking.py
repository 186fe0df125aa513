"""Operators whose elements are found through other elements, or counted."""

from __future__ import annotations

import numpy as np

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import extent_scalar
from optimizer.loops.building import Indices, LoopTensor, constant_tensor, one_number
from optimizer.loops.formulas import add, choose, is_below, largest, least, mul, number, sub
from optimizer.loops.scalar import INDEX, Scalar, cast
from optimizer.operators.call import axis_in
from optimizer.operators.loops.site import NodeLoops


def gathered(site: NodeLoops) -> list[LoopTensor]:
    """Slices along one axis, by number; a number that is read is held inside the axis."""
    data = site.operand(0)
    axis = axis_in(site.call.number("axis", 0), len(data.shape))
    size = data.shape[axis]
    if size == 0:
        raise site.decline("picks out of nothing")
    fixed = _fixed_places(site, size)
    places = fixed or site.operand(1)
    depth = len(places.shape)

    def place(indices: Indices) -> Indices:
        picked = places.at(indices[axis : axis + depth])
        found = picked if fixed else _held(picked, size)
        return [*indices[:axis], found, *indices[axis + depth :]]

    return [data.view((*data.shape[:axis], *places.shape, *data.shape[axis + 1 :]), place)]


def _fixed_places(site: NodeLoops, size: Dimension) -> LoopTensor | None:
    """The constant indices as places that surely lie inside."""
    numbers = site.call.constant(1)
    if numbers is None or not numbers.size or not isinstance(size, int):
        return None
    if numbers.min() < -size or numbers.max() >= size:
        raise site.decline("picks from outside the tensor")
    return constant_tensor(np.where(numbers < 0, numbers + size, numbers), INDEX)


def _held(picked: Scalar, size: Dimension) -> Scalar:
    """An index counted from the front, inside the axis whatever was read."""
    count = cast(extent_scalar(size), picked.dtype)
    zero = number(0, picked)
    counted = choose(is_below(picked, zero), add(picked, count), picked)
    return cast(largest(least(counted, sub(count, number(1, picked))), zero), INDEX)


def counted(site: NodeLoops) -> list[LoopTensor]:
    """Range: start + i delta."""
    start, step = site.operand(0), site.operand(2)

    def body(indices: Indices) -> Scalar:
        return add(start.at([]), mul(cast(indices[0], start.dtype), step.at([])))

    if start.shape or step.shape:
        raise site.decline("has bounds that are no scalars")
    return [site.func(site.shape(), body)]


def filled(site: NodeLoops) -> list[LoopTensor]:
    """ConstantOfShape: one number everywhere."""
    tensor = site.call.tensor("value")
    value = 0 if tensor is None else tensor.numpy().reshape(-1)[0].item()
    return [one_number(value, site.dtype()).broadcast(site.shape())]
