"""What several rules read off a node's operands: parts of a Split, bounds of a Slice."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.dimension import Dimension, exact_divide
from optimizer.operators.call import Call, Contradiction, Dim, IndexRule, Shape, axis_in


def split_sizes(call: Call, dim: Dimension, count: int) -> Sequence[Dim]:
    """The size of each part of a Split."""
    parts: Sequence[Dim] | None = call.numbers("split")
    if parts is None and call.has(1):
        parts = call.elements(1) if call.opset >= 13 else None
        if parts is None:
            return (None,) * count
    if parts is not None:
        if len(parts) != count:
            raise Contradiction(f"{len(parts)} sizes for {count} parts")
        return parts
    if isinstance(dim, int) and dim % count:
        whole = -(-dim // count)
        last = dim - whole * (count - 1)
        if call.opset < 18 or last < 0:
            raise Contradiction(f"{dim} split into {count} equal parts")
        return (*(whole,) * (count - 1), last)
    return (exact_divide(dim, count),) * count


def shape_part(call: Call, shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """The dimensions that a Shape node returns."""
    start, end = call.number("start", 0), call.number("end", len(shape))
    return shape[slice(start, end)]


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


def indexed_axis(data: int, *, default: int = 0, name: str = "axis") -> IndexRule:
    """Size of the axis of input `data` that an attribute names."""
    return lambda call: _size(call, data, call.number(name, default))


def indexed_lead(call: Call) -> Dim:
    """Smallest of the leading axes that a vector of GatherND or ScatterND indexes."""
    indices, first = call.shape(1), call.number("batch_dims", 0)
    depth = indices[-1] if indices and isinstance(indices[-1], int) else 1
    sizes = [_size(call, 0, axis) for axis in range(first, first + depth)]
    return min((size for size in sizes if isinstance(size, int)), default=None)


def _size(call: Call, index: int, axis: int) -> Dim:
    shape = call.shape(index)
    return None if shape is None or not -len(shape) <= axis < len(shape) else shape[axis]
