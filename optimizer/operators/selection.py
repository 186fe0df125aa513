"""Operators that pick elements, make tensors, or look at shapes."""

from __future__ import annotations

import math

import onnx_ir as ir

from optimizer.model.constants import constant_tensor
from optimizer.model.dimension import Dimension, at_least, floor_divide
from optimizer.operators.call import (
    Call,
    Contradiction,
    Dim,
    Shape,
    Typed,
    axis_in,
    non_negative,
    types,
)

FLOAT, INT64 = ir.DataType.FLOAT, ir.DataType.INT64
_FAR = 2**31 - 1
"""Bounds of a Slice from here on mean "to the end", whatever the size."""


@types("Shape")
def shape_of(call: Call) -> list[Typed]:
    """int64[rank], or the part between `start` and `end`."""
    data = call.shape(0)
    return [(INT64, (None if data is None else len(shape_part(call, data)),))]


def shape_part(call: Call, shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The dimensions that a Shape node returns."""
    start, end = call.number("start", 0), call.number("end", len(shape))
    return shape[slice(start, end)]


@types("Size")
def size_of(call: Call) -> list[Typed]:
    """int64 scalar."""
    return [(INT64, ())]


@types("Constant")
def constant(call: Call) -> list[Typed]:
    """A tensor of the model itself."""
    tensor = constant_tensor(call.node)
    if tensor is None:
        return []
    return [(tensor.dtype, tuple(tensor.shape.numpy()))]


@types("ConstantOfShape")
def constant_of_shape(call: Call) -> list[Typed]:
    """The input's elements are the sizes; float32 zeros by default."""
    value = call.tensor("value")
    sizes = call.elements(0)
    if sizes is None:
        length = call.shape(0)
        rank = length[0] if length else None
        sizes = (None,) * rank if isinstance(rank, int) else None
    return [(FLOAT if value is None else value.dtype, sizes)]


@types("Range")
def range_(call: Call) -> list[Typed]:
    """max(ceil((limit - start) / delta), 0) elements."""
    return [(call.dtype(0), (_range_length(call),))]


def _range_length(call: Call) -> Dim:
    bounds = [call.elements(index) for index in range(3)]
    dims = [elements[0] for elements in bounds if elements]
    if len(dims) == 3 and None not in dims:
        start, limit, delta = (dim for dim in dims if dim is not None)
        if not isinstance(delta, int) or delta == 0:
            return None
        # ceil(span/delta) -> -floor(-span/delta); a negative delta counts down
        span = limit - start if delta > 0 else start - limit
        if isinstance(span, int):
            return max(-(-span // abs(delta)), 0)
        return -floor_divide(-span, abs(delta)) if at_least(span, 0) else None
    constants = [call.constant(index) for index in range(3)]
    numbers = [float(array.ravel()[0]) for array in constants if array is not None and array.size]
    if len(numbers) != 3 or numbers[2] == 0 or not all(map(math.isfinite, numbers)):
        return None
    return max(math.ceil((numbers[1] - numbers[0]) / numbers[2]), 0)


@types("OneHot")
def one_hot(call: Call) -> list[Typed]:
    """`depth` classes at a new axis."""
    indices, depth = call.shape(0), call.elements(1)
    if indices is None:
        return [(call.dtype(2), None)]
    axis = axis_in(call.number("axis", -1), len(indices) + 1)
    found = depth[0] if depth else None
    return [(call.dtype(2), (*indices[:axis], found, *indices[axis:]))]


@types("Gather")
def gather(call: Call) -> list[Typed]:
    """The indexed axis is replaced by the shape of the indices."""
    data, indices = call.shape(0), call.shape(1)
    if data is None or indices is None:
        return [(call.dtype(0), None)]
    axis = axis_in(call.number("axis", 0), len(data))
    return [(call.dtype(0), (*data[:axis], *indices, *data[axis + 1 :]))]


@types("GatherElements")
def gather_elements(call: Call) -> list[Typed]:
    """One element for each index."""
    return [(call.dtype(0), call.shape(1))]


@types("GatherND")
def gather_nd(call: Call) -> list[Typed]:
    """The last axis of the indices addresses that many leading axes of the data."""
    data, indices = call.shape(0), call.shape(1)
    depth = indices[-1] if indices else None
    if data is None or indices is None or not isinstance(depth, int):
        return [(call.dtype(0), None)]
    batch = call.number("batch_dims", 0)
    if batch + depth > len(data):
        raise Contradiction(f"indices of depth {depth} into rank {len(data)}")
    return [(call.dtype(0), (*indices[:-1], *data[batch + depth :]))]


@types("Slice")
def slice_(call: Call) -> list[Typed]:
    """A range along some axes; bounds beyond the tensor are clamped to it.

    Assumption (`Call.slices_fit`): a symbolic bound lies inside an axis of known size, as a
    position table is cut to the length of a sequence, and so does a bound counted from the end.
    A model that runs at all with other sizes would have to rely on the clamping of a bound.
    """
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), None)]
    bounds = slice_bounds(call, len(data))
    if bounds is None:
        return [(call.dtype(0), (None,) * len(data))]
    result: list[Dim] = list(data)
    for axis, (start, end, step) in bounds.items():
        result[axis] = _slice_length(data[axis], (start, end, step), fits=call.slices_fit)
    return [(call.dtype(0), tuple(result))]


def slice_bounds(call: Call, rank: int) -> dict[int, tuple[Dim, Dim, Dim]] | None:
    """Start, end and step by axis; None where the axes themselves are not known."""
    if call.opset < 10:
        starts: Shape | None = call.numbers("starts")
        ends: Shape | None = call.numbers("ends")
        axes, steps = call.numbers("axes"), None
    else:
        starts, ends = call.elements(1), call.elements(2)
        axes = call.integers(3)
        if call.has(3) and axes is None:
            return None
        steps = call.elements(4) if call.has(4) else None
        if call.has(4) and steps is None:
            return None
    if starts is None and ends is None:
        return None if axes is None else dict.fromkeys(_places(axes, rank), (None, None, None))
    count = len(starts or ends or ())
    axes = tuple(range(count)) if axes is None else axes
    starts, ends, steps = starts or (None,) * count, ends or (None,) * count, steps or (1,) * count
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Contradiction("starts, ends, axes and steps of different lengths")
    return dict(zip(_places(axes, rank), zip(starts, ends, steps, strict=True), strict=True))


def _places(axes: tuple[int, ...], rank: int) -> list[int]:
    return [axis_in(axis, rank) for axis in axes]


def _slice_length(dim: Dimension, bounds: tuple[Dim, Dim, Dim], *, fits: bool) -> Dim:
    start, end, step = bounds
    if start is None or end is None or not isinstance(step, int):
        return None
    if step == 0:
        raise Contradiction("a Slice with step 0")
    if isinstance(dim, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*slice(start, _end(end, step), step).indices(dim)))
    if step == -1 and start == -1 and isinstance(end, int) and end <= -_FAR:
        return dim  # reversed
    if step < 0 or dim in (0, 1):  # a size that broadcasts: a symbolic bound may well lie beyond
        return None
    low, high = _bound(dim, start, fits=fits), _bound(dim, end, fits=fits)
    if low is None or high is None or not at_least(high, low):
        return None
    return -floor_divide(low - high, step)


def _end(end: int, step: int) -> int | None:
    return None if step < 0 and end <= -_FAR else end


def _bound(dim: Dimension, bound: Dimension, *, fits: bool) -> Dim:
    """Where a bound really lies in [0, dim], or None."""
    if isinstance(bound, int):
        if bound == 0 or bound <= -_FAR:
            return 0
        if bound >= _FAR:
            return dim
        if isinstance(dim, int):
            return min(max(bound + dim if bound < 0 else bound, 0), dim)
        if bound < 0:
            return dim + bound if fits or at_least(dim, -bound) else None
        return bound if at_least(dim, bound) else None
    if non_negative(bound) is None:
        return None
    if at_least(dim, bound):
        return bound
    if at_least(bound, dim):
        return dim
    return bound if fits and isinstance(dim, int) else None
