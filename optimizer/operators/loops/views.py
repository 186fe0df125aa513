"""Operators that only move elements: their outputs are places in their inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from optimizer.dimension import Dimension, at_least, product
from optimizer.loops.algorithm import extent_scalar
from optimizer.loops.building import Indices, LoopTensor, one_number
from optimizer.loops.formulas import add, choose, is_below, largest, least, mul, sub
from optimizer.loops.regrouping import regrouped
from optimizer.loops.scalar import BOOL, Number, Scalar, apply, index
from optimizer.operators.call import axis_in
from optimizer.operators.loops.site import NodeLoops
from optimizer.operators.operands import slice_bounds

_FAR = 2**31 - 1
"""Bounds of a Slice from here on mean "to the end", whatever the size."""


def identity(site: NodeLoops) -> list[LoopTensor]:
    """The input."""
    return [site.operand(0)]


def dropout(site: NodeLoops) -> list[LoopTensor]:
    """The input, and a mask that keeps everything."""
    training = site.call.constant(2) if site.call.has(2) else None
    if site.call.has(2) and (training is None or training.any()):
        raise site.decline("may be in training")
    if 0 < site.call.opset < 7 and not site.call.number("is_test", 0):
        raise site.decline("may be in training")
    data = site.operand(0)
    return [data, one_number(True, BOOL).broadcast(data.shape)]


def reshaped(site: NodeLoops) -> list[LoopTensor]:
    """The same elements, in the same order, under another shape."""
    data, shape = site.operand(0), site.shape()
    if product(data.shape) != product(shape):
        raise site.decline("gives a shape that is not known to hold as many elements")
    return [data.view(shape, lambda indices: regrouped(data.shape, shape, indices))]


def transposed(site: NodeLoops) -> list[LoopTensor]:
    """Axes in another order."""
    data = site.operand(0)
    order = site.call.numbers("perm") or tuple(reversed(range(len(data.shape))))

    def place(indices: Indices) -> Indices:
        found = dict(zip(order, indices, strict=True))
        return [found[axis] for axis in range(len(order))]

    return [data.view([data.shape[axis] for axis in order], place)]


def expanded(site: NodeLoops) -> list[LoopTensor]:
    """Repeated along axes of extent 1."""
    return [site.operand(0).broadcast(site.shape())]


def tiled(site: NodeLoops) -> list[LoopTensor]:
    """Repeated along every axis."""
    data = site.operand(0)

    def place(indices: Indices) -> Indices:
        return [
            index(0) if size == 1 else apply("floor_mod", one, extent_scalar(size))
            for one, size in zip(indices, data.shape, strict=True)
        ]

    return [data.view(site.shape(), place)]


def sliced(site: NodeLoops) -> list[LoopTensor]:
    """A range along some axes."""
    data, shape = site.operand(0), site.shape()
    bounds = slice_bounds(site.call, len(data.shape))
    if bounds is None:
        raise site.decline("has axes that are not constant")
    ranges: dict[int, tuple[Dimension, int]] = {}
    for axis, (start, end, step) in bounds.items():
        if start is None or not isinstance(step, int):
            raise site.decline("has a start or a step that is not known")
        if step > 0 and not all(_is_held(data.shape[axis], one) for one in (start, end)):
            raise site.decline("counts back from the end of an axis that may be shorter")
        ranges[axis] = (_start(site, data.shape[axis], start, step), step)

    def place(indices: Indices) -> Indices:
        return [
            _stepped(one, *ranges[axis], (shape[axis], data.shape[axis])) if axis in ranges else one
            for axis, one in enumerate(indices)
        ]

    return [data.view(shape, place)]


def _is_held(size: Dimension, bound: Dimension | None) -> bool:
    """Whether a bound that counts from the end surely lies inside: shapes take that for granted."""
    if isinstance(size, int) or not isinstance(bound, int) or not -_FAR < bound < 0:
        return True
    return at_least(size, -bound) is True


def _start(site: NodeLoops, size: Dimension, start: Dimension, step: int) -> Dimension:
    """The first place that a Slice takes.

    Raises:
        NotGenerated: it depends on a size.
    """
    if isinstance(size, int) and isinstance(start, int):
        return slice(start, None, step).indices(size)[0]
    if step < 0:
        if isinstance(start, int) and (start >= _FAR or start < 0):
            return size - 1 if start >= _FAR else size + start
        raise site.decline("counts down from a place that depends on a size")
    if isinstance(start, int) and start < 0:
        return 0 if start <= -_FAR else size + start
    return start


def _stepped(
    one: Scalar, start: Dimension, step: int, sizes: tuple[Dimension, Dimension]
) -> Scalar:
    """A place of a Slice: held inside the tensor where sizes do not say that it lies there.

    Args:
        one: the index in the result.
        start: the first place.
        step: from one place to the next.
        sizes: of the axis in the result and in the tensor.
    """
    length, size = sizes
    moved = one if step == 1 else mul(one, index(step))
    place = moved if start == 0 else add(moved, extent_scalar(start))
    last = start + (length - 1) * step
    low, high = (start, last) if step > 0 else (last, start)
    if length != 0 and not at_least(size - 1, high):
        place = least(place, extent_scalar(size - 1))
    return place if length == 0 or at_least(low, 0) else largest(place, index(0))


def split(site: NodeLoops) -> list[LoopTensor]:
    """Consecutive parts of one axis."""
    data = site.operand(0)
    axis = axis_in(site.call.number("axis", 0), len(data.shape))
    parts: list[LoopTensor] = []
    offset: Dimension = 0
    for number in range(len(site.node.outputs)):
        shape = site.shape(number)
        parts.append(data.view(shape, _moved(axis, offset)))
        offset = offset + shape[axis]
    if offset != data.shape[axis]:
        raise site.decline("has parts that are not known to make the whole")
    return parts


def _moved(axis: int, offset: Dimension) -> Callable[[Indices], Indices]:
    """Places further along one axis."""
    if offset == 0:
        return lambda indices: indices
    far = extent_scalar(offset)
    return lambda i: [*i[:axis], add(i[axis], far), *i[axis + 1 :]]


def concatenated(site: NodeLoops) -> list[LoopTensor]:
    """Tensors one after the other along an axis: which of them depends on the index."""
    parts = site.operands()
    axis = axis_in(site.call.number("axis", 1), len(parts[0].shape))
    rest = [(*part.shape[:axis], *part.shape[axis + 1 :]) for part in parts]
    if any(other != rest[0] for other in rest):
        raise site.decline("joins tensors whose other sizes are not known to be equal")
    ends: list[Dimension] = []
    for part in parts:
        ends.append((ends[-1] if ends else 0) + part.shape[axis])
    shape = [*parts[0].shape[:axis], ends[-1], *parts[0].shape[axis + 1 :]]

    def body(indices: Indices) -> Scalar:
        result: Scalar | None = None
        for part, end in reversed(list(zip(parts, ends, strict=True))):
            if part.shape[axis] == 0:
                continue
            place = _moved(axis, 0 - (end - part.shape[axis]))(indices)
            read = part.at(place)
            inside = is_below(indices[axis], extent_scalar(end))
            result = read if result is None else choose(inside, read, result)
        return Number(0, parts[0].dtype) if result is None else result

    return [site.func(shape, body)]


def padded(site: NodeLoops) -> list[LoopTensor]:
    """A constant around the data, or the data without some of its border."""
    data, call = site.operand(0), site.call
    if call.text("mode", "constant") != "constant":
        raise site.decline("has loops for a constant alone")
    fill = _filling(site, data)
    before = _pads_before(site, len(data.shape))

    def body(indices: Indices) -> Scalar:
        place = list(indices)
        inside: list[Scalar] = []
        for axis, (width, new, old) in enumerate(
            zip(before, site.shape(), data.shape, strict=True)
        ):
            if width:
                place[axis] = sub(indices[axis], index(width))
            if width > 0:
                inside.append(apply("ge", place[axis], index(0)))
            if new - width != old:
                inside.append(is_below(place[axis], extent_scalar(old)))
        read = data.at(place)
        if 0 in data.shape:
            return fill
        return choose(reduce(partial(apply, "and"), inside), read, fill) if inside else read

    return [site.func(site.shape(), body)]


def _filling(site: NodeLoops, data: LoopTensor) -> Scalar:
    given = site.optional(2) if site.call.opset >= 11 or not site.call.opset else None
    if given is not None:
        return given.at([index(0)] * len(given.shape))
    return Number(site.call.real("value", 0.0), data.dtype)


def _pads_before(site: NodeLoops, rank: int) -> list[int]:
    """What is put before each axis."""
    call = site.call
    pads = call.numbers("pads") or call.integers(1)
    axes = call.integers(3) if call.has(3) else tuple(range(rank))
    if pads is None or axes is None:
        raise site.decline("has pads that are not constant")
    found = [0] * rank
    for axis, width in zip(axes, pads[: len(axes)], strict=True):
        found[axis_in(axis, rank)] = width
    return found


def triangle(site: NodeLoops) -> list[LoopTensor]:
    """The upper or the lower part of matrices, zeros elsewhere."""
    data, call = site.operand(0), site.call
    offset = call.integers(1) if call.has(1) else (0,)
    if offset is None:
        raise site.decline("has a diagonal that is not constant")
    upper = bool(call.number("upper", 1))

    def body(i: Indices) -> Scalar:
        kept = apply("ge" if upper else "le", i[-1], add(i[-2], index(offset[0])))
        return choose(kept, data.at(i), Number(0, data.dtype))

    return [site.func(data.shape, body)]
