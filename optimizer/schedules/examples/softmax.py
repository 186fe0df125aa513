"""Softmax along rows: two reductions that everything else waits for."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis, Reduction
from optimizer.loops.formulas import div, exp, sub
from optimizer.loops.schedule import (
    Bound,
    ComputeAt,
    ComputeRoot,
    Parallel,
    Reorder,
    RFactor,
    Split,
    Vectorize,
)
from optimizer.schedules.examples.example import FLOAT, Example, named, read, tensor


def softmax(rows: int, columns: int) -> Algorithm:
    """float32[rows, columns] -> the same: along a row, positive and 1 in sum."""
    x = tensor("x", rows, columns)
    row, column = LoopAxis("i", rows), LoopAxis("j", columns)
    along = LoopAxis("k", columns)
    highest = Func(
        "highest", FLOAT, (row,), read(x, row.var, along.var), Reduction("max", (along,))
    )
    below = sub(read(x, row.var, column.var), highest.at((row.var,)))
    power = Func("power", FLOAT, (row, column), exp(below))
    total = Func("total", FLOAT, (row,), power.at((row.var, along.var)), Reduction("sum", (along,)))
    share = div(power.at((row.var, column.var)), total.at((row.var,)))
    return Algorithm(
        (x,), (highest, power, total, Func("softmax", FLOAT, (row, column), share)), ("softmax",)
    )


_BY_ROWS = (
    Parallel("softmax", "i"),
    ComputeAt("highest", "softmax", "i"),
    ComputeAt("power", "softmax", "i"),
    ComputeAt("total", "softmax", "i"),
)

SOFTMAX = Example(
    "softmax",
    "Softmax of 512 rows of 1024",
    "The greatest of a row and the sum of its powers are each needed before the next step begins, "
    "so a row is walked three times. What is kept between the walks, and where, decides the rest.",
    softmax,
    sizes={"rows": 512, "columns": 1024},
    small={"rows": 4, "columns": 64},
    schedules=(
        named(
            "powers twice",
            "Powers are computed where they are read: once for the sum, once for the quotient.",
        ),
        named(
            "powers kept",
            "Each power is computed once, and goes through 2 MiB of memory on its way.",
            ComputeRoot("power"),
        ),
        named(
            "row by row",
            "Of powers a single row is kept, 4 KiB, and rows run in parallel; but one number at a "
            "time, since a sum in order cannot be split.",
            *_BY_ROWS,
        ),
        named(
            "rows in vectors",
            "Sixteen sums side by side make the reductions vectors, too: no loop is scalar now.",
            *_BY_ROWS,
            Split("softmax", "j", "jo", "lane", 16),
            Vectorize("softmax", "lane"),
            Split("power", "j", "jo", "lane", 16),
            Vectorize("power", "lane"),
            Split("highest", "k", "ko", "kv", 16, nest=1),
            RFactor("highest", "kv", "highest_lanes", "lane"),
            Bound("highest_lanes", "lane", 16),
            ComputeAt("highest_lanes", "softmax", "i"),
            Reorder("highest_lanes", ("ko", "lane"), nest=1),
            Vectorize("highest_lanes", "lane"),
            Vectorize("highest_lanes", "lane", nest=1),
            Split("total", "k", "ko", "kv", 16, nest=1),
            RFactor("total", "kv", "total_lanes", "lane"),
            Bound("total_lanes", "lane", 16),
            ComputeAt("total_lanes", "softmax", "i"),
            Reorder("total_lanes", ("ko", "lane"), nest=1),
            Vectorize("total_lanes", "lane"),
            Vectorize("total_lanes", "lane", nest=1),
        ),
    ),
)
