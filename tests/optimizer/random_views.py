"""Patterns of random graphs that move or reshape data and compute nothing."""

from __future__ import annotations

import numpy as np

from tests.optimizer.random_graphs import FLOAT, INT, Pattern, Shape, Sketch, Wire
from tests.optimizer.random_patterns import on


def _static(shape: Shape) -> tuple[int, ...] | None:
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


@on(lambda wire: wire.rank > 0)
def transpose(sketch: Sketch, x: Wire) -> Wire:
    """The identity, the reversal, or a rotation; sometimes there and back."""
    axes = list(range(x.rank))
    perm: list[int] = sketch.pick([axes, axes[::-1], [*axes[1:], 0]])
    y = sketch.node("Transpose", [x], tuple(x.shape[a] for a in perm), perm=perm)
    if not sketch.flip():
        return y
    if sketch.flip() and x.dtype == FLOAT:
        y = sketch.node("Relu", [y], y.shape)
    back = [perm.index(axis) for axis in axes]
    return sketch.node("Transpose", [y], x.shape, perm=back)


def _target(sketch: Sketch, x: Wire) -> Wire:
    """The own shape, said in one of four ways."""
    way = sketch.pick(["zeros", "open", "shape", "gathered"])
    if way == "shape":
        return sketch.node("Shape", [x], (x.rank,), dtype=INT)
    if way == "gathered":
        return _gathered(sketch, x)
    sizes = [size if isinstance(size, int) else 0 for size in x.shape]
    if way == "open":
        sizes[sketch.pick(range(x.rank))] = -1
    return sketch.ints(*sizes)


def _gathered(sketch: Sketch, x: Wire) -> Wire:
    """Shape, Gather, Unsqueeze, Concat: what exporters write for a view."""
    parts: list[Wire] = []
    for axis, size in enumerate(x.shape):
        if isinstance(size, int):
            parts.append(sketch.ints(size))
            continue
        shape = sketch.node("Shape", [x], (x.rank,), dtype=INT)
        one = sketch.node("Gather", [shape, sketch.constant(np.array(axis, np.int64))], (), axis=0)
        parts.append(sketch.node("Unsqueeze", [one, sketch.ints(0)], (1,)))
    return sketch.node("Concat", parts, (x.rank,), axis=0)


@on(lambda wire: wire.rank > 0)
def reshape(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Reshape", [x, _target(sketch, x)], x.shape)


@on(lambda wire: wire.rank > 1)
def merge(sketch: Sketch, x: Wire) -> Wire:
    """Merge all axes but the last, and sometimes reshape once more."""
    rows: int | str = "*".join(str(size) for size in x.shape[:-1])
    static = _static(x.shape[:-1])
    rows = int(np.prod(static)) if static is not None else rows
    last = x.shape[-1] if isinstance(x.shape[-1], int) else -1
    if last == -1:
        return sketch.node("Flatten", [x], (x.shape[0], "rest"), axis=1)
    y = sketch.node("Reshape", [x, sketch.ints(-1, last)], (rows, last))
    if sketch.flip():
        y = sketch.node("Reshape", [y, sketch.ints(-1, 1, last)], (rows, 1, last))
    return y


@on(lambda wire: wire.rank > 0)
def expand(sketch: Sketch, x: Wire) -> Wire:
    """To the own shape, to ones, or with one more axis in front."""
    if sketch.flip():
        shape = sketch.node("Shape", [x], (x.rank,), dtype=INT)
        return sketch.node("Expand", [x, shape], x.shape)
    ones = [1] * x.rank
    if sketch.flip():
        return sketch.node("Expand", [x, sketch.ints(*ones)], x.shape)
    return sketch.node("Expand", [x, sketch.ints(2, *ones)], (2, *x.shape))


@on(lambda wire: wire.rank > 0)
def tile(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Tile", [x, sketch.ints(*[1] * x.rank)], x.shape)


@on(lambda wire: wire.rank > 0)
def cut(sketch: Sketch, x: Wire) -> Wire:
    """A Slice of everything, to the far end, or of all but the first."""
    axis: int = sketch.pick(range(x.rank))
    size = x.shape[axis]
    start: int = sketch.pick([0, 0, 1])
    end = sketch.pick([2**63 - 1, 2**31 - 1, size if isinstance(size, int) else 2**31 - 1])
    left: int | str = f"{size}-{start}" if isinstance(size, str) and start else size
    if start and (not isinstance(size, int) or size < 2):
        start, left = 0, size
    elif isinstance(size, int):
        left = size - start
    shape = (*x.shape[:axis], left, *x.shape[axis + 1 :])
    bounds = [sketch.ints(start), sketch.ints(end), sketch.ints(axis)]
    return sketch.node("Slice", [x, *bounds], shape)


@on(lambda wire: wire.rank > 0 and wire.dtype == FLOAT and _static(wire.shape) is not None)
def pad(sketch: Sketch, x: Wire) -> Wire:
    more = sketch.pick([0, 0, 1])
    pads = [0] * (2 * x.rank)
    pads[-1] = more
    last = x.shape[-1]
    grown: Shape = (*x.shape[:-1], last + more if isinstance(last, int) else last)
    return sketch.node("Pad", [x, sketch.ints(*pads)], grown)


@on(lambda wire: wire.rank < 4)
def unsqueeze(sketch: Sketch, x: Wire) -> Wire:
    y = sketch.node("Unsqueeze", [x, sketch.ints(0)], (1, *x.shape))
    if sketch.flip():
        return sketch.node("Unsqueeze", [y, sketch.ints(1)], (1, 1, *x.shape))
    return sketch.node("Squeeze", [y, sketch.ints(0)], x.shape) if sketch.flip() else y


@on(lambda wire: 1 not in wire.shape and _static(wire.shape) is not None)
def squeeze(sketch: Sketch, x: Wire) -> Wire:
    return sketch.node("Squeeze", [x], x.shape)


@on(lambda wire: wire.rank > 0)
def concat(sketch: Sketch, x: Wire) -> Wire:
    """One operand, or two of which one may be empty."""
    if sketch.flip():
        return sketch.node("Concat", [x], x.shape, axis=0)
    static = _static(x.shape[1:])
    if static is not None and x.dtype == FLOAT and sketch.flip():
        empty = sketch.constant(np.zeros((0, *static), np.float32))
        return sketch.node("Concat", [x, empty], x.shape, axis=0)
    first = x.shape[0]
    rows: int | str = 2 * first if isinstance(first, int) else f"2*{first}"
    return sketch.node("Concat", [x, x], (rows, *x.shape[1:]), axis=0)


@on(lambda wire: wire.rank > 0)
def split(sketch: Sketch, x: Wire) -> Wire:
    """Into one part, or into two that are joined again."""
    last = x.shape[-1]
    if not isinstance(last, int) or last % 2 or sketch.flip():
        return sketch.node("Split", [x], x.shape, axis=0, num_outputs=1)
    half = (*x.shape[:-1], last // 2)
    parts = sketch.split_node("Split", [x], [half, half], axis=-1, num_outputs=2)
    return sketch.node("Concat", parts, x.shape, axis=-1)


@on(lambda wire: wire.dtype == FLOAT and wire.rank == 4)
def resize(sketch: Sketch, x: Wire) -> Wire:
    scales = sketch.constant(np.ones(4, np.float32))
    operands = [x, None, scales]
    if sketch.opset == 10:
        operands = [x, scales]
    elif sketch.opset < 13:
        operands = [x, sketch.constant(np.zeros(0, np.float32)), scales]
    return sketch.node("Resize", operands, x.shape, mode="nearest")


@on(lambda wire: wire.rank > 0)
def nothing_of_it(sketch: Sketch, x: Wire) -> Wire | None:
    """Take none of the rows, compute on, and join: only empty tensors on the way."""
    if x.dtype != FLOAT or _static(x.shape) is None:
        return None
    bounds = [sketch.ints(0), sketch.ints(0), sketch.ints(0)]
    empty = sketch.node("Slice", [x, *bounds], (0, *x.shape[1:]))
    empty = sketch.node("Relu", [empty], empty.shape)
    sketch.wires = [wire for wire in sketch.wires if 0 not in wire.shape]
    return sketch.node("Concat", [empty, x], x.shape, axis=0)


VIEWS: tuple[Pattern, ...] = (
    *(transpose, reshape, merge, expand, tile, cut, pad),
    *(unsqueeze, squeeze, concat, split, resize, nothing_of_it),
)
