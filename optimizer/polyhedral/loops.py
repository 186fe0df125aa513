"""Primitives applied to loops, whether or not that is right: what is right is isl's to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import (
    Atomic,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    GpuBlocks,
    GpuThreads,
    Parallel,
    Primitive,
    Reorder,
    ScheduleError,
    Split,
    StoreAt,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.ordering import (
    At,
    FuncOrder,
    Ordered,
    Refused,
    StageLoops,
    automatic_tail,
    place_halves,
    unordered,
)
from optimizer.schedules.program import program_of


def loops_of(algorithm: Algorithm, primitives: Sequence[Primitive]) -> Ordered:
    """The loops of an algorithm after these primitives.

    Raises:
        ScheduleError: one of them names a Func or a loop that is not there.
    """
    program = program_of(algorithm, primitives)
    orders = unordered(program)
    for number, primitive in enumerate(primitives):
        if number in program.consumed:
            continue
        try:
            _apply(orders, primitive)
        except Refused as refused:
            raise ScheduleError(number, str(refused)) from refused
    place_halves(orders)
    return Ordered(program, orders)


def applicable(
    algorithm: Algorithm, primitives: Sequence[Primitive]
) -> tuple[tuple[Primitive, ...], tuple[str, ...]]:
    """Those that name what is there, and why not of each other one."""
    kept, reasons = list(primitives), list[str]()
    while True:
        try:
            loops_of(algorithm, kept)
        except ScheduleError as error:
            if error.index is None:
                raise
            del kept[error.index]
            reasons.append(error.reason)
            continue
        return tuple(kept), tuple(reasons)


def _apply(orders: Mapping[str, FuncOrder], primitive: Primitive) -> None:
    order = orders.get(primitive.func)
    if order is None:
        raise Refused(f"there is no Func {primitive.func}; there are {', '.join(orders)}")
    match primitive:
        case ComputeRoot():
            order.compute = "root"
        case ComputeInline():
            order.compute = "inline"
        case StoreRoot():
            order.store = "root"
        case ComputeAt():
            order.compute = _place(orders, primitive)
        case StoreAt():
            order.store = _place(orders, primitive)
        case Atomic():
            order.is_atomic = order.func.is_exact
        case (
            Split()
            | Fuse()
            | Reorder()
            | Vectorize()
            | Unroll()
            | Parallel()
            | GpuBlocks()
            | GpuThreads()
        ):
            if not 0 <= primitive.nest < len(order.stages):
                raise Refused(f"{primitive.func} has no nest {primitive.nest}")
            _order(order.stages[primitive.nest], primitive)
        case _:
            """The others say how memory lies, not when what is computed."""


def _place(orders: Mapping[str, FuncOrder], primitive: ComputeAt | StoreAt) -> At:
    reader = orders.get(primitive.reader)
    if reader is None or not any(primitive.loop in stage.runs for stage in reader.stages):
        raise Refused(f"there is no loop {primitive.loop} of {primitive.reader}")
    return At(primitive.reader, primitive.loop)


def _order(
    stage: StageLoops,
    primitive: Split | Fuse | Reorder | Vectorize | Unroll | Parallel | GpuBlocks | GpuThreads,
) -> None:
    match primitive:
        case Split():
            if primitive.factor < 1:
                raise Refused(f"a split by {primitive.factor}: factors are 1 or more")
            at = stage.loops.index(stage.known(primitive.loop))
            automatic = primitive.tail == "auto"
            tail = automatic_tail(stage, primitive.loop) if automatic else primitive.tail
            stage.replace([primitive.loop], [primitive.outer, primitive.inner], at)
            stage.made.append(replace(primitive, tail=tail))
        case Fuse():
            place = stage.loops.index(stage.known(primitive.inner))
            at = place - (stage.loops.index(stage.known(primitive.outer)) < place)
            stage.replace([primitive.outer, primitive.inner], [primitive.fused], at)
            stage.made.append(primitive)
        case Reorder():
            names = [stage.known(name) for name in primitive.loops]
            if len(set(names)) < len(names):
                raise Refused("a loop is named twice")
            places = sorted(stage.loops.index(name) for name in names)
            for place, name in zip(places, names, strict=True):
                stage.loops[place] = name
        case Vectorize():
            stage.runs[stage.known(primitive.loop)] = "vector"
        case Parallel() | GpuBlocks() | GpuThreads():
            stage.runs[stage.known(primitive.loop)] = "parallel"
        case Unroll():
            stage.runs[stage.known(primitive.loop)] = "unrolled"
