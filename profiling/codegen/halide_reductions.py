"""How a reduction combines in Halide, and its partial results side by side.

Halide's own `rfactor` knows sums, but no maximum that keeps NaN, and under `strict_float` it adds
the partial results up one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from optimizer.loops.algorithm import Algorithm, Reduction, ReductionKind
from optimizer.loops.evaluation import extremes
from optimizer.loops.schedule import RFactor, Schedule, ScheduleError, Split
from profiling.codegen import halide_math as guarded
from profiling.codegen.halide_bindings import Expr, hl
from profiling.codegen.halide_scalars import computed_type, constant
from profiling.codegen.halide_stages import strict


@dataclass(frozen=True)
class Lanes:
    """Partial results of a reduction, side by side.

    Attributes:
        axis: of the reduction; a round of it is `outer` * `factor` + `lane`.
        made: the Func of the partial results.
        past_end: whether elements are read past the axis' end, and not taken.
    """

    axis: str
    outer: str
    lane: str
    factor: int
    made: str
    past_end: bool


def partial_results(
    algorithm: Algorithm, schedule: Schedule
) -> tuple[Mapping[str, Lanes], frozenset[int]]:
    """The lanes of reductions by Func, and the numbers of the primitives that say so.

    Raises:
        ScheduleError: a primitive asks for lanes that cannot be.
    """
    splits: dict[tuple[str, str], tuple[int, Split]] = {}
    found: dict[str, Lanes] = {}
    consumed: set[int] = set()
    for number, primitive in enumerate(schedule.primitives):
        if isinstance(primitive, Split) and primitive.nest == 1:
            splits[primitive.func, primitive.inner] = number, primitive
        if not isinstance(primitive, RFactor):
            continue
        func = algorithm.by_name.get(primitive.func)
        reduced = func.reduction.axes if func and func.reduction else ()
        at, split = splits.get((primitive.func, primitive.loop), (-1, None))
        if split is None or split.loop not in {axis.name for axis in reduced}:
            raise ScheduleError(number, f"{primitive.loop} is no inner loop of a split reduction")
        if primitive.func in found:
            raise ScheduleError(number, f"{primitive.func} has partial results already")
        found[primitive.func] = Lanes(
            split.loop,
            split.outer,
            primitive.axis,
            split.factor,
            primitive.made,
            split.tail == "round_up",
        )
        consumed |= {at, number}
    return found, frozenset(consumed)


def accumulator_type(dtype: ir.DataType) -> Any:
    """The Halide type in which a reduction gathers: of 16-bit floats, float32."""
    return hl.UInt(8) if dtype == ir.DataType.BOOL else computed_type(dtype)


def identity(kind: ReductionKind, dtype: ir.DataType) -> Expr:
    """What combining begins with, of the accumulator's type."""
    if kind in ("sum", "any"):
        return hl.cast(accumulator_type(dtype), 0)
    if kind in ("product", "all"):
        return hl.cast(accumulator_type(dtype), 1)
    return hl.cast(accumulator_type(dtype), constant(extremes(dtype)[kind == "min"], dtype))


def combined(reduction: Reduction, one: Expr, other: Expr) -> Expr:
    """Two values of the accumulator's type as one."""
    ways = _OF_NUMBERS if reduction.ignores_nan else _COMBINED
    return strict(ways[reduction.kind](one, other))


def halves(partials: Any, reduction: Reduction, lanes: Lanes, axes: Sequence[Any]) -> Iterator[Any]:
    """Funcs of half as many partial results each, down to one: the first half with the second.

    Each is one vector, so that no element of it goes through memory.

    Args:
        partials: the Func with all of them.
        reduction: how they are combined.
        lanes: how many they are.
        axes: variables of the axes besides the lanes, the outermost first.
    """
    count = lanes.factor
    while count > 1:
        count //= 2
        lane = hl.Var(lanes.lane)
        others = list(reversed(axes))
        made = hl.Func(f"{lanes.made}_{count}")
        one, other = hl.Expr(partials[lane, *others]), hl.Expr(partials[lane + count, *others])
        made[lane, *others] = strict(combined(reduction, one, other))
        made.bound(lane, 0, count)
        if count > 1:
            made.vectorize(lane)
        yield made
        partials = made


_COMBINED: Mapping[ReductionKind, Callable[[Expr, Expr], Expr]] = {
    "sum": lambda a, b: a + b,
    "product": lambda a, b: a * b,
    "max": guarded.largest,
    "min": guarded.smallest,
    "any": lambda a, b: a | b,
    "all": lambda a, b: a & b,
}
_OF_NUMBERS: Mapping[ReductionKind, Callable[[Expr, Expr], Expr]] = {
    **_COMBINED,
    "max": guarded.at_least,
    "min": guarded.at_most,
}
"""Where NaN may be left out: one instruction."""
