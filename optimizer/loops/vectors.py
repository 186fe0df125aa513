"""How wide the vectors of a loop are, and how many."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import LoopAxis
from optimizer.loops.schedule import Primitive, Split, Tail, Unroll, Vectorize

MOST_LANE_VECTORS = 4
"""Of sums side by side: as many as hide how long one addition takes."""
UNROLLED = 16
"""Vectors of a row that are written out."""
UNROLLED_INSTRUCTIONS = 1000
"""Of a row that is written out: what compiles in a moment."""
TILE_VECTORS = 4
"""Of a tile of columns."""


def vector_loops(
    func: str, axis: LoopAxis, width: int, nest: int = 0, tail: Tail = "guard_with_if"
) -> Iterator[Primitive]:
    """A loop as one of vectors, called after it with `o`, and what is in one, with `v`."""
    held = held_by(axis.extent, width)
    if held < 2:
        return
    yield Split(func, axis.name, f"{axis.name}o", f"{axis.name}v", held, nest=nest, tail=tail)
    yield Vectorize(func, f"{axis.name}v", nest=nest)


def unrolled(
    func: str, axis: LoopAxis, width: int, *, instructions: int, nest: int = 0
) -> Iterator[Primitive]:
    """A short loop of vectors, written out: then what is kept for it stays in registers.

    Args:
        func: whose loop it is.
        axis: the one that was split into vectors.
        width: of a vector.
        instructions: of one of its rounds.
        nest: of the Func.
    """
    vectors = -(-axis.extent // width) if isinstance(axis.extent, int) else 0
    if 1 < vectors <= UNROLLED and vectors * instructions <= UNROLLED_INSTRUCTIONS:
        yield Unroll(func, f"{axis.name}o", nest=nest)


def held_by(extent: Dimension, width: int) -> int:
    """How many rounds of a loop a vector holds, a power of two; 1 where there is but one."""
    if not isinstance(extent, int) or extent >= width:
        return width
    return 1 << max(extent - 1, 0).bit_length()


def tile_of(extent: Dimension, width: int) -> int:
    """How many columns are computed at a time."""
    most = -(-extent // width) if isinstance(extent, int) else TILE_VECTORS
    return width * max(1, min(TILE_VECTORS, most))


def lanes_of(extent: Dimension, width: int) -> int:
    """How many sums side by side: more than one vector of them where rows are long."""
    if not isinstance(extent, int):
        return 2 * width
    vectors = MOST_LANE_VECTORS
    while vectors > 1 and extent < 2 * vectors * width:
        vectors //= 2
    return held_by(extent, vectors * width)
