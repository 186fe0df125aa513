"""A chain of stencils: each stage needs a little more of the one before it."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.formulas import add, mul, number
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeRoot,
    Parallel,
    Primitive,
    Split,
    StoreAt,
    Vectorize,
)
from optimizer.schedules.examples.example import FLOAT, Example, beside, named, read, tensor

_STAGES, _TAPS = 8, 3


def stencil_chain(height: int, width: int) -> Algorithm:
    """float32[height + 16, width] -> float32[height, width]: eight means of three down a column."""
    image = tensor("image", height + _STAGES * (_TAPS - 1), width)
    x = LoopAxis("x", width)
    funcs: list[Func] = []
    for stage in range(1, _STAGES + 1):
        y = LoopAxis("y", height + (_STAGES - stage) * (_TAPS - 1))
        places = [beside(y.var, step) for step in range(_TAPS)]
        taps = [funcs[-1].at((one, x.var)) if funcs else read(image, one, x.var) for one in places]
        body = mul(add(*taps), number(1 / _TAPS, taps[0]))
        funcs.append(Func(f"stage{stage}", FLOAT, (y, x), body))
    return Algorithm((image,), tuple(funcs), (funcs[-1].name,))


_INNER = tuple(f"stage{number}" for number in range(1, _STAGES))
_LAST = f"stage{_STAGES}"


def _in_vectors(*funcs: str) -> tuple[Primitive, ...]:
    return tuple(
        one
        for func in funcs
        for one in (Split(func, "x", "xv", "lane", 16), Vectorize(func, "lane"))
    )


def _strips(rows: int) -> tuple[Primitive, ...]:
    return Split(_LAST, "y", "yo", "yi", rows), Parallel(_LAST, "yo")


STENCIL_CHAIN = Example(
    "stencil-chain",
    "Eight stencils in a row, each of three rows",
    "A strip needs two rows more of each stage before it: computed twice where strips run side by "
    "side, or kept in a window where rows follow each other. Neither all of it in memory nor all "
    "of it computed again is bearable with eight stages.",
    stencil_chain,
    sizes={"height": 2048, "width": 2048},
    small={"height": 128, "width": 16},
    schedules=(
        named(
            "stage after stage",
            "Each stage goes through memory: sixteen megabytes out and in, eight times.",
            *(ComputeRoot(one) for one in _INNER),
            *(Parallel(one, "y") for one in (*_INNER, _LAST)),
            *_in_vectors(*_INNER, _LAST),
        ),
        named(
            "in strips",
            "Strips of 32 rows stay in the second cache; of the first stage 46 rows are computed.",
            *_strips(32),
            *(ComputeAt(one, _LAST, "yo") for one in _INNER),
            *_in_vectors(*_INNER, _LAST),
        ),
        named(
            "windows in strips",
            "Within a strip each row of each stage is computed once, and three of each are kept.",
            *_strips(64),
            *(
                one
                for func in _INNER
                for one in (StoreAt(func, _LAST, "yo"), ComputeAt(func, _LAST, "yi"))
            ),
            *_in_vectors(*_INNER, _LAST),
        ),
    ),
)
