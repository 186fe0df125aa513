"""Moves of blocks and triangles, as Reshape, Transpose and Where."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import NotHere, dims_of, only_one_free
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement


@register
class LowerDataMovement(Pass):
    """Write moves of blocks as Reshape and Transpose.

    What it does:
        DepthToSpace and SpaceToDepth are a Transpose between two Reshapes; Trilu keeps with a Where
        what lies on one side of a diagonal, with an And where it is of truth values, for which ONNX
        Runtime has no Where; the side is found by comparing places where sizes are free; Size is
        the product of the sizes.
    Before:
        DepthToSpace
    After:
        Reshape → Transpose → Reshape
    When it is safe:
        The number of channels is known, and of the spatial sizes all but one. Beside one that is
        free, a batch that is free too is not empty when it runs: Reshape could not tell the size.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, DepthToSpace, SpaceToDepth, Trilu.
    """

    id = "lower-data-movement"
    exactness = "exact"

    profile: str = "matrix-engine"

    @lowers("DepthToSpace", name="DepthToSpace")
    def to_space(self, lowering: Lowering) -> Replacement:
        """Channels become places."""
        block, (channels, height, width) = int(lowering.of("blocksize")), _image(lowering)
        left = channels // (block * block)
        columns = lowering.text("mode", "DCR") == "DCR"
        apart = (block, block, left) if columns else (left, block, block)
        perm = (0, 3, 4, 1, 5, 2) if columns else (0, 1, 4, 2, 5, 3)
        blocks = lowering.reshape(lowering.input(0), 0, *apart, *only_one_free(height, width))
        moved = lowering.new("Transpose", blocks, perm=[*perm])
        sizes = (_times(height, block), _times(width, block))
        result = lowering.reshape(moved, 0, left, *only_one_free(*sizes))
        return lowering.put(result, "A block of channels becomes a block of places.")

    @lowers("SpaceToDepth", name="SpaceToDepth")
    def to_depth(self, lowering: Lowering) -> Replacement:
        """Places become channels."""
        block, (channels, height, width) = int(lowering.of("blocksize")), _image(lowering)
        rows, columns = _over(height, block), _over(width, block)
        free = only_one_free(rows, columns)
        cut = (channels, free[0], block, free[1], block)
        moved = lowering.new(
            "Transpose", lowering.reshape(lowering.input(0), 0, *cut), perm=[0, 3, 5, 1, 2, 4]
        )
        result = lowering.reshape(moved, 0, channels * block * block, *free)
        return lowering.put(result, "A block of places becomes a block of channels.")

    @lowers("Trilu", name="Triangle")
    def triangle(self, lowering: Lowering) -> Replacement:
        """What is above, or below, a diagonal stays; the rest is 0."""
        x = lowering.input(0)
        dims = dims_of(x)[-2:]
        diagonal = lowering.optional_input(1)
        offset = 0 if diagonal is None else lowering.context.scalar(diagonal)
        if None in dims or offset is None:
            return lowering.put(_by_places(lowering, x, diagonal), "Places are compared.")
        rows, columns = (int(dim or 0) for dim in dims)
        side = np.triu if lowering.of("upper") else np.tril
        kept = side(np.ones((rows, columns), bool), int(offset))
        places = lowering.weight(kept)
        if x.dtype == ir.DataType.BOOL:
            result = lowering.new("And", places, x)
        else:
            result = lowering.new("Where", places, x, lowering.number(x, 0))
        return lowering.put(result, "The places of the triangle are known.")

    @lowers("Size", name="Size")
    def size(self, lowering: Lowering) -> Replacement:
        """The number of elements."""
        x = lowering.input(0)
        rank = lowering.rank(x)
        dims = None if not rank else dims_of(x)
        if dims is None or None not in dims:
            count = np.asarray(math.prod(dim or 1 for dim in dims or ()), np.int64)
            return lowering.put_all([lowering.weight(count)], "Its sizes are known.")
        shape = lowering.new("Shape", x)
        sizes = [lowering.new("Gather", shape, lowering.place(axis)) for axis in range(rank)]
        return lowering.put(lowering.each("Mul", sizes), "It is the product of its sizes.")


def _by_places(lowering: Lowering, x: ir.Value, diagonal: ir.Value | None) -> Operand:
    """Rows and columns are counted, and compared with the diagonal."""
    rank = lowering.rank(x)
    shape = lowering.new("Shape", x)
    first, step = lowering.place(0), lowering.place(1)
    along: list[Operand] = []
    for axis in (rank - 2, rank - 1):
        size = lowering.new("Gather", shape, lowering.place(axis))
        along.append(lowering.new("Range", first, size, step))
    rows: Operand = lowering.unsqueeze(along[0], 1)
    if diagonal is not None:
        rows = lowering.new("Add", rows, diagonal)
    outside = lowering.new("Less" if lowering.of("upper") else "Greater", along[1], rows)
    if x.dtype == ir.DataType.BOOL:
        return lowering.new("And", lowering.new("Not", outside), x)
    return lowering.new("Where", outside, lowering.number(x, 0), x)


def _image(lowering: Lowering) -> tuple[int, int | None, int | None]:
    """Channels, height and width.

    Raises:
        NotHere: it is no image, or its channels are free.
    """
    dims = dims_of(lowering.input(0))
    if len(dims) != 4 or dims[1] is None:
        raise NotHere("the number of its channels is free in the file")
    return dims[1], dims[2], dims[3]


def _times(size: int | None, block: int) -> int | None:
    return None if size is None else size * block


def _over(size: int | None, block: int) -> int | None:
    return None if size is None else size // block
