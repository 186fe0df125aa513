"""A blur in two stages, in the five orders of the Halide paper."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.formulas import add, mul, number
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Parallel,
    Reorder,
    Split,
    StoreAt,
    StoreRoot,
    Vectorize,
)
from optimizer.schedules.examples.example import FLOAT, Example, beside, named, read, tensor

_TAPS = 3


def blur(height: int, width: int) -> Algorithm:
    """float32[height + 2, width + 2] -> float32[height, width]: means of 3×3, by axes."""
    image = tensor("image", height + 2, width + 2)
    x = LoopAxis("x", width)
    tall, y = LoopAxis("y", height + 2), LoopAxis("y", height)
    across = [read(image, tall.var, beside(x.var, step)) for step in range(_TAPS)]
    blur_x = Func("blur_x", FLOAT, (tall, x), mul(add(*across), number(1 / _TAPS, across[0])))
    down = [blur_x.at((beside(y.var, step), x.var)) for step in range(_TAPS)]
    blur_y = Func("blur_y", FLOAT, (y, x), mul(add(*down), number(1 / _TAPS, down[0])))
    return Algorithm((image,), (blur_x, blur_y), ("blur_y",))


_TILES = (
    Split("blur_y", "y", "yo", "yi", 32),
    Split("blur_y", "x", "xo", "xi", 32),
    Reorder("blur_y", ("yo", "xo", "yi", "xi")),
    Parallel("blur_y", "yo"),
    ComputeAt("blur_x", "blur_y", "xo"),
)

BLUR = Example(
    "blur",
    "Two-stage 3×3 blur",
    "Parallelism, locality and redundant work pull against each other: whoever wants two of them "
    "pays with the third. Five orders of the same twelve operations show every corner of that.",
    blur,
    sizes={"height": 2046, "width": 3072},
    small={"height": 64, "width": 64},
    schedules=(
        named(
            "breadth-first",
            "All of blur_x lies in memory before blur_y begins: nothing is computed twice, and "
            "nothing is still in a cache.",
            ComputeRoot("blur_x"),
            Parallel("blur_x", "y"),
            Parallel("blur_y", "y"),
        ),
        named(
            "full fusion",
            "blur_x is computed again wherever it is read, three times for each pixel, and never "
            "goes through memory.",
            ComputeInline("blur_x"),
            Parallel("blur_y", "y"),
        ),
        named(
            "sliding window",
            "Three rows of blur_x are kept and each is computed once; but a row needs the rows "
            "before it, so that rows no longer run in parallel.",
            StoreRoot("blur_x"),
            ComputeAt("blur_x", "blur_y", "y"),
        ),
        named(
            "tiled",
            "Tiles of 32×32 run in parallel and stay in the first cache; two rows in 34 are "
            "computed twice.",
            *_TILES,
        ),
        named(
            "sliding in tiles",
            "Strips of 8 rows run in parallel, each with a window of its own: two rows in ten are "
            "computed twice.",
            Split("blur_y", "y", "yo", "yi", 8),
            Parallel("blur_y", "yo"),
            StoreAt("blur_x", "blur_y", "yo"),
            ComputeAt("blur_x", "blur_y", "yi"),
        ),
        named(
            "tiled and vectorized",
            "The same tiles with eight pixels in one instruction: what the paper's five leave out.",
            *_TILES,
            Split("blur_y", "xi", "xv", "lane", 8),
            Vectorize("blur_y", "lane"),
            Split("blur_x", "x", "xv", "lane", 8),
            Vectorize("blur_x", "lane"),
        ),
    ),
)
