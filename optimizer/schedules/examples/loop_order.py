"""Loops in one order and in the other, and in small tiles."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.formulas import add, mul, number
from optimizer.loops.schedule import Reorder, Split, Unroll, Vectorize
from optimizer.schedules.examples.example import FLOAT, Example, named, read, tensor


def scaled(rows: int, columns: int) -> Algorithm:
    """float32[rows, columns] -> the same shape: twice each element, and 1."""
    data = tensor("data", rows, columns)
    i, j = LoopAxis("i", rows), LoopAxis("j", columns)
    one = read(data, i.var, j.var)
    body = add(mul(one, number(2, one)), number(1, one))
    return Algorithm((data,), (Func("scaled", FLOAT, (i, j), body),), ("scaled",))


def with_transpose(size: int) -> Algorithm:
    """float32[size, size] -> the same shape: a + aᵀ."""
    data = tensor("data", size, size)
    i, j = LoopAxis("i", size), LoopAxis("j", size)
    body = add(read(data, i.var, j.var), read(data, j.var, i.var))
    return Algorithm((data,), (Func("symmetric", FLOAT, (i, j), body),), ("symmetric",))


LOOP_ORDER = Example(
    "loop-order",
    "256×1024: rows first or columns first",
    "The innermost loop should walk along neighbours in memory: down a column, every element is "
    "in another cache line. The arithmetic is the same, and so are the results.",
    scaled,
    sizes={"rows": 256, "columns": 1024},
    small={"rows": 8, "columns": 32},
    schedules=(
        named("rows first", "The innermost loop takes neighbours: one cache line serves sixteen."),
        named(
            "columns first",
            "The innermost loop jumps 4 KiB at a time: one cache line for each element.",
            Reorder("scaled", ("j", "i")),
        ),
        named(
            "rows first, in vectors",
            "What lies side by side can be computed side by side.",
            Split("scaled", "j", "jo", "lane", 8),
            Vectorize("scaled", "lane"),
        ),
    ),
)

TILING = Example(
    "tiling",
    "4×4 tiles of a sum with its transpose",
    "One operand is read along rows and the other along columns, so that no order of two loops "
    "suits both. Tiles do: what a cache line brings is used before it is gone.",
    with_transpose,
    sizes={"size": 1024},
    small={"size": 16},
    schedules=(
        named("two loops", "One of the two operands jumps a whole row at each step."),
        named(
            "4×4 tiles",
            "Four loops: which tile, and where in it.",
            Split("symmetric", "i", "io", "ii", 4),
            Split("symmetric", "j", "jo", "ji", 4),
            Reorder("symmetric", ("io", "jo", "ii", "ji")),
        ),
        named(
            "4×4 tiles, written out",
            "A tile without loops: four vectors of four.",
            Split("symmetric", "i", "io", "ii", 4),
            Split("symmetric", "j", "jo", "ji", 4),
            Reorder("symmetric", ("io", "jo", "ii", "ji")),
            Unroll("symmetric", "ii"),
            Vectorize("symmetric", "ji"),
        ),
    ),
)

TAIL = Example(
    "tail",
    "The end of a row: computed again, or behind a branch",
    "Eight does not divide 1003, so the last vector of a row does not fit. It can be moved back "
    "over elements that are there already, or its lanes can ask whether they are still inside.",
    scaled,
    sizes={"rows": 64, "columns": 1003},
    small={"rows": 4, "columns": 27},
    schedules=(
        named(
            "recomputing",
            "The last vector begins where it still fits: five elements are computed twice.",
            Split("scaled", "j", "jo", "lane", 8, tail="shift_inwards"),
            Vectorize("scaled", "lane"),
        ),
        named(
            "branch",
            "Each round asks first: nothing is computed twice, and the last round is scalar.",
            Split("scaled", "j", "jo", "lane", 8, tail="guard_with_if"),
            Vectorize("scaled", "lane"),
        ),
        named(
            "mask",
            "Lanes past the end neither read nor write: one instruction for all of them.",
            Split("scaled", "j", "jo", "lane", 8, tail="predicate"),
            Vectorize("scaled", "lane"),
        ),
    ),
)
