"""How many elements an operator's largest output has, known before it is computed.

Shapes declared in a model are claims; these numbers come from the inputs themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optimizer.operators.call import Call, NotFoldable

MOST_PRODUCTS = 1 << 28
"""Multiplications in one constant matrix product."""

Size = Callable[[Call], int]


def broadcast(call: Call) -> int:
    """Elementwise operators."""
    shapes = [array.shape for array in call.arrays()]
    return math.prod(np.broadcast_shapes(*shapes))


def first(call: Call) -> int:
    """Operators that keep or shrink their first input."""
    return call.array(0).size


def total(call: Call) -> int:
    """Concat."""
    return sum(array.size for array in call.arrays())


def rank(call: Call) -> int:
    """Shape and Size."""
    return max(call.array(0).ndim, 1)


def like_indices(call: Call) -> int:
    """Operators with one result for each index."""
    return call.array(1).size


def gather(call: Call) -> int:
    """The indexed axis is replaced by the shape of the indices."""
    data = call.array(0)
    axis = data.shape[call.number("axis", 0)]
    return call.array(1).size * (data.size // axis if axis else 0)


def gather_nd(call: Call) -> int:
    """Each index addresses a slice of at most the whole tensor."""
    indices = call.array(1)
    last = np.size(indices, -1)
    depth = last + call.number("batch_dims", 0)
    rest = math.prod(call.array(0).shape[depth:])
    return indices.size // max(last, 1) * rest


def expand(call: Call) -> int:
    """Broadcast to a given shape."""
    target = tuple(_sizes(call, 1))
    return math.prod(np.broadcast_shapes(call.array(0).shape, target))


def tile(call: Call) -> int:
    """Each axis repeated."""
    return call.array(0).size * math.prod(_sizes(call, 1))


def constant_of_shape(call: Call) -> int:
    """As many as the shape says."""
    return math.prod(_sizes(call, 0))


def range_(call: Call) -> int:
    """max(ceil((limit - start) / delta), 0)."""
    start, limit, delta = (call.array(index).item() for index in range(3))
    if delta == 0 or not all(map(math.isfinite, (start, limit, delta))):
        raise NotFoldable("Range has no valid step")
    if isinstance(delta, int):
        return max(-((start - limit) // delta), 0)
    return max(math.ceil((limit - start) / delta), 0)


def pad(call: Call) -> int:
    """Each axis grows by its two pads."""
    pads = call.ints(1, "pads") or []
    shape = list(call.array(0).shape)
    axes = call.ints(3, "axes") if call.has(3) else list(range(len(shape)))
    for position, axis in enumerate(axes or []):
        shape[axis] += pads[position] + pads[position + len(axes or [])]
    return math.prod(max(size, 0) for size in shape)


def one_hot(call: Call) -> int:
    """`depth` classes for each index."""
    return call.array(0).size * max(int(call.array(1).reshape(-1)[0]), 0)


def non_zero(call: Call) -> int:
    """One coordinate for each axis of each element, at most."""
    return call.array(0).size * max(call.array(0).ndim, 1)


def eye_like(call: Call) -> int:
    """The shape of the input."""
    return call.array(0).size


def matmul(call: Call) -> int:
    """Batches of rows times columns."""
    left, right = call.array(0).shape, call.array(1).shape
    if not left or not right:
        raise NotFoldable("MatMul needs at least one axis on each side")
    rows = left[-2] if len(left) > 1 else 1
    columns = right[-1] if len(right) > 1 else 1
    batches = math.prod(np.broadcast_shapes(left[:-2], right[:-2]))
    _check_products(batches * rows * columns * np.size(call.array(0), -1))
    return batches * rows * columns


def gemm(call: Call) -> int:
    """Rows times columns."""
    left, right = call.array(0), call.array(1)
    inner = left.shape[0] if call.number("transA", 0) else left.shape[1]
    if inner == 0:
        return left.size + right.size
    rows, columns = left.size // inner, right.size // inner
    _check_products(rows * columns * inner)
    return rows * columns


def _check_products(count: int) -> None:
    if count > MOST_PRODUCTS:
        raise NotFoldable(
            f"the constant matrix product takes {count:,} multiplications (limit {MOST_PRODUCTS:,})"
        )


def _sizes(call: Call, index: int) -> list[int]:
    sizes = [int(x) for x in call.array(index).reshape(-1)]
    if any(size < 0 for size in sizes):
        raise NotFoldable(f"{call.node.op_type} is given a negative size")
    return sizes
