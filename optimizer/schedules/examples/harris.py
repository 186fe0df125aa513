"""The Harris corner detector: eleven stages, most of them cheap."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.formulas import add, mul, number, square, sub
from optimizer.loops.scalar import Scalar
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeRoot,
    Parallel,
    Reorder,
    Split,
    Vectorize,
)
from optimizer.schedules.examples.example import FLOAT, Example, beside, named, read, tensor

_SHARE = 0.04
"""Of the squared trace that is taken from the determinant: Harris and Stephens 1988."""


def harris(height: int, width: int) -> Algorithm:
    """float32[height + 4, width + 4] -> float32[height, width]: how much of a corner there is."""
    image = tensor("image", height + 4, width + 4)
    axes = LoopAxis("y", height + 2), LoopAxis("x", width + 2)
    y, x = (axis.var for axis in axes)

    def difference(*, along_x: bool) -> Scalar:
        """Sobel's, over 3×3."""
        terms: list[Scalar] = []
        for step, weight in ((0, 1), (1, 2), (2, 1)):
            ends = [(step, 0), (step, 2)] if along_x else [(0, step), (2, step)]
            low, high = (read(image, beside(y, dy), beside(x, dx)) for dy, dx in ends)
            terms.append(mul(sub(high, low), number(weight / 8, low)))
        return add(*terms)

    dx = Func("dx", FLOAT, axes, difference(along_x=True))
    dy = Func("dy", FLOAT, axes, difference(along_x=False))
    of_x, of_y = dx.at((y, x)), dy.at((y, x))
    products = {"xx": mul(of_x, of_x), "yy": mul(of_y, of_y), "xy": mul(of_x, of_y)}
    squares = [Func(name, FLOAT, axes, body) for name, body in products.items()]
    inside = LoopAxis("y", height), LoopAxis("x", width)
    sums = [Func(f"sum_{one.name}", FLOAT, inside, _sum_around(one)) for one in squares]
    xx, yy, xy = (one.at((y, x)) for one in sums)
    trace = add(xx, yy)
    determinant = sub(mul(xx, yy), square(xy))
    body = sub(determinant, mul(square(trace), number(_SHARE, trace)))
    corner = Func("corner", FLOAT, inside, body)
    return Algorithm((image,), (dx, dy, *squares, *sums, corner), ("corner",))


def _sum_around(func: Func) -> Scalar:
    y, x = (axis.var for axis in func.axes)
    places = [(beside(y, dy), beside(x, dx)) for dy in range(3) for dx in range(3)]
    return add(*(func.at(place) for place in places))


_STAGES = ("dx", "dy", "xx", "yy", "xy", "sum_xx", "sum_yy", "sum_xy")

HARRIS = Example(
    "harris",
    "Harris corner detector",
    "With many cheap stages, what to keep is the question: all of them and memory is the limit, "
    "none and each difference is computed nine times. Keep the two that are read around a pixel.",
    harris,
    sizes={"height": 1024, "width": 1536},
    small={"height": 16, "width": 24},
    schedules=(
        named("all kept", "Nine images go through memory.", *map(ComputeRoot, _STAGES)),
        named("none kept", "One nest; the two differences are computed for nine pixels each."),
        named(
            "differences kept in tiles",
            "Tiles of 32×64 run in parallel; only the differences are kept, in the first cache.",
            Split("corner", "y", "yo", "yi", 32),
            Split("corner", "x", "xo", "xi", 64),
            Reorder("corner", ("yo", "xo", "yi", "xi")),
            Parallel("corner", "yo"),
            Split("corner", "xi", "xv", "lane", 8),
            Vectorize("corner", "lane"),
            ComputeAt("dx", "corner", "xo"),
            ComputeAt("dy", "corner", "xo"),
            Split("dx", "x", "xv", "lane", 8),
            Vectorize("dx", "lane"),
            Split("dy", "x", "xv", "lane", 8),
            Vectorize("dy", "lane"),
        ),
    ),
)
