"""Products of matrices, as sums. Fusion takes those alone in which one side is a vector."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.loops.building import Indices, LoopTensor, common_shape
from optimizer.loops.formulas import mul, wide
from optimizer.loops.scalar import Scalar, cast, index
from optimizer.operators.loops.site import NodeLoops


def matrix_product(site: NodeLoops) -> list[LoopTensor]:
    """numpy.matmul: sums along the last axis of the left side and the last but one of the right."""
    left, right = _matrix(site.operand(0), row=True), _matrix(site.operand(1), row=False)
    depth = left.shape[-1]
    if right.shape[-2] != depth:
        raise site.decline("has sides that are not known to fit")
    batch = common_shape([LoopTensor(one.dtype, one.shape[:-2], one.at) for one in (left, right)])
    left, right = (one.broadcast((*batch, *one.shape[-2:])) for one in (left, right))
    dtype = wide(left.dtype)

    def body(kept: Indices, along: Indices) -> Scalar:
        one = left.at([*kept[:-1], along[0]])
        other = right.at([*kept[:-2], along[0], kept[-1]])
        return mul(cast(one, dtype), cast(other, dtype))

    shape = (*batch, left.shape[-2], right.shape[-1])
    total = site.reduced("sum", shape, (depth,), body=body)
    if dtype != left.dtype:
        total = site.func(shape, total.at, dtype=left.dtype, name="result")
    return [_without_ones(site, total)]


def _matrix(side: LoopTensor, *, row: bool) -> LoopTensor:
    """A vector as a matrix of one row, or of one column."""
    if len(side.shape) > 1:
        return side
    if row:
        return side.view((1, *side.shape), lambda indices: indices[1:])
    return side.view((*side.shape, 1), lambda indices: indices[:1])


def _without_ones(site: NodeLoops, total: LoopTensor) -> LoopTensor:
    """The product without the axes that vectors were given."""
    rows = [-2] if len(site.operand(0).shape) == 1 else []
    gone = [*rows, -1] if len(site.operand(1).shape) == 1 else rows
    if not gone:
        return total
    rank = len(total.shape)
    kept = [axis for axis in range(rank) if axis - rank not in gone]

    def place(indices: Indices) -> Sequence[Scalar]:
        found = dict(zip(kept, indices, strict=True))
        return [found[axis] if axis in found else index(0) for axis in range(rank)]

    return total.view([total.shape[axis] for axis in kept], place)
