"""Loops that may trade places as tiles: over caches, over registers, with vectors inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.loops.schedule import Parallel, Primitive, Reorder, Split, Unroll, Vectorize
from optimizer.schedules.program import LoopFunc

CACHE_BYTES = 1 << 15
"""Of a tile and what is kept for it: the first cache."""
WIDEST = 128
"""Elements of a tile's rows: what lies side by side in memory."""
ROWS = 32
"""Of a tile, at most."""
REGISTERS = 8
"""Vectors of sums that a tile of registers holds: half of what AVX2 has."""
ENOUGH_TASKS = 8
_FEWEST_LANES = 4


@dataclass(frozen=True, slots=True)
class Tiling:
    """Tiles of a Func.

    Attributes:
        sizes: how far each axis runs in a tile.
        loop: the innermost over tiles; what a tile needs is computed in it.
    """

    sizes: tuple[tuple[str, int], ...]
    loop: str

    @classmethod
    def of(cls, func: LoopFunc, axes: frozenset[str], *, kept: int, lanes: int) -> Tiling:
        """Tiles that stay in the first cache.

        Args:
            func: whose.
            axes: those that may be tiled.
            kept: Funcs that are kept for a tile.
            lanes: of a vector.
        """
        left = CACHE_BYTES // max(func.element_bytes, 1) // (kept + 1)
        sizes: dict[str, int] = {}
        most = WIDEST
        for axis, extent in reversed(list(zip(func.axes, func.shape, strict=True))):
            fitting = max(_fitting(extent, min(left, most)), lanes if not sizes else 1)
            whole = axis.name not in axes or extent <= fitting
            sizes[axis.name] = extent if whole else fitting
            left //= max(sizes[axis.name], 1)
            most = ROWS
        ordered = tuple((axis.name, sizes[axis.name]) for axis in func.axes)
        split = [name for name, size in ordered if size < _extent(func, name)]
        loop = f"{split[-1]}t" if split else func.axes[0].name
        return cls(ordered, loop)


def tiled_output(func: LoopFunc, tiling: Tiling, lanes: int) -> Iterator[Primitive]:
    """Loops over tiles, in parallel, and rows of vectors in each."""
    outer: list[str] = []
    inner: list[str] = []
    for name, size in tiling.sizes:
        if size < _extent(func, name):
            yield Split(func.name, name, f"{name}t", f"{name}i", size)
            outer.append(f"{name}t")
            inner.append(f"{name}i")
        else:
            inner.append(name)
    if not outer:
        outer, inner = inner[:1], inner[1:]
    if len(outer) + len(inner) > 1:
        yield Reorder(func.name, (*outer, *inner))
    lanes = _lanes(dict(tiling.sizes)[func.axes[-1].name], lanes) if inner else 1
    if lanes > 1:
        yield Split(func.name, inner[-1], f"{inner[-1]}o", "lane", lanes)
        yield Vectorize(func.name, "lane")
    yield from _parallel(func, outer, dict(tiling.sizes))


def _parallel(func: LoopFunc, outer: Sequence[str], sizes: dict[str, int]) -> Iterator[Primitive]:
    """The first loops over tiles, until there are rounds enough for all threads."""
    rounds = 1
    for loop in outer:
        name = loop if loop in sizes else loop[:-1]
        extent = _extent(func, name)
        count = -(-extent // sizes[name]) if loop not in sizes else extent
        if count > 1:
            yield Parallel(func.name, loop)
        rounds *= count
        if rounds >= ENOUGH_TASKS:
            return


def vector_rows(
    func: LoopFunc, lanes: int, *, parallel: bool = False, tile: int = 0
) -> Iterator[Primitive]:
    """The first nest of a Func, its innermost axis in vectors.

    Args:
        func: whose.
        lanes: of a vector.
        parallel: whether its outermost loops are.
        tile: how far the axis runs; 0 for all of it.
    """
    if not func.axes:
        return
    *others, last = [axis.name for axis in func.axes]
    if parallel:
        yield from _parallel(func, others, _whole(func))
    lanes = _lanes(tile or _extent(func, last), lanes)
    if lanes > 1:
        yield Split(func.name, last, f"{last}o", "lane", lanes)
        yield Vectorize(func.name, "lane")


def tiled_sum(
    func: LoopFunc, tile: Sequence[int], lanes: int, *, parallel: bool = False
) -> Iterator[Primitive]:
    """The nest that combines: tiles of registers inside the loops that carry its dependences.

    Args:
        func: whose.
        tile: how far its axes run.
        lanes: of a vector.
        parallel: whether its outermost loops are.
    """
    carried = [axis.name for axis in func.stages[1].reduced]
    if not func.axes:
        return
    *others, last = [axis.name for axis in func.axes]
    inside: list[str] = []
    vectors, lanes = 1, _lanes(tile[-1], lanes)
    if lanes > 1:
        vectors = _dividing(tile[-1] // lanes, REGISTERS - 1)
        yield Split(func.name, last, f"{last}o", f"{last}i", lanes * vectors, nest=1)
        yield Split(func.name, f"{last}i", f"{last}v", "lane", lanes, nest=1)
        yield Vectorize(func.name, "lane", nest=1)
        yield Unroll(func.name, f"{last}v", nest=1)
        inside, last = [f"{last}v", "lane"], f"{last}o"
    rows = _dividing(tile[-2], REGISTERS // vectors) if others else 1
    if rows > 1:
        row = others.pop()
        yield Split(func.name, row, f"{row}o", f"{row}i", rows, nest=1)
        yield Unroll(func.name, f"{row}i", nest=1)
        others.append(f"{row}o")
        inside.insert(0, f"{row}i")
    yield Reorder(func.name, (*others, last, *carried, *inside), nest=1)
    if parallel and others:
        yield Parallel(func.name, others[0], nest=1)


def _dividing(number: int, most: int) -> int:
    """The largest divisor that is no larger than this."""
    return max(one for one in range(1, max(most, 1) + 1) if number % one == 0) if number else 1


def _fitting(extent: int, most: int) -> int:
    """So many that they divide an extent, if that is not much less than may be; a power of two."""
    dividing = _dividing(extent, most)
    return dividing if 2 * dividing > most else 1 << (max(most, 1).bit_length() - 1)


def _lanes(extent: int, most: int) -> int:
    """Of vectors that end where a row does, if there are any; 1 where a row is too short."""
    if extent < _FEWEST_LANES:
        return 1
    held = min(most, 1 << (extent.bit_length() - 1))
    fitting = [one for one in (held, held // 2) if one >= _FEWEST_LANES and extent % one == 0]
    return max(fitting, default=held)


def _whole(func: LoopFunc) -> dict[str, int]:
    return {axis.name: size for axis, size in zip(func.axes, func.shape, strict=True)}


def _extent(func: LoopFunc, axis: str) -> int:
    return _whole(func)[axis]
