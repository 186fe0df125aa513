"""Primitives of a schedule applied to a Halide pipeline: Halide's directives have their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from optimizer.loops.schedule import (
    AlignStorage,
    Atomic,
    Bound,
    BoundExtent,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    GpuBlocks,
    GpuSingleThread,
    GpuThreads,
    In,
    LoopPrimitive,
    Parallel,
    Primitive,
    Reorder,
    ReorderStorage,
    RFactor,
    Schedule,
    ScheduleError,
    Split,
    StoreAt,
    StoreIn,
    StoreRoot,
    Unroll,
    Vectorize,
)
from profiling.codegen.halide_bindings import hl
from profiling.codegen.halide_pipeline import HalidePipeline, LoopNests

_TAILS: Mapping[str, Any] = {
    "auto": hl.TailStrategy.Auto,
    "round_up": hl.TailStrategy.RoundUp,
    "guard_with_if": hl.TailStrategy.GuardWithIf,
    "predicate": hl.TailStrategy.Predicate,
    "predicate_loads": hl.TailStrategy.PredicateLoads,
    "predicate_stores": hl.TailStrategy.PredicateStores,
    "shift_inwards": hl.TailStrategy.ShiftInwards,
}
_RUNS: Mapping[type[Primitive], str] = {
    Vectorize: "vectorize",
    Unroll: "unroll",
    Parallel: "parallel",
    GpuBlocks: "gpu_blocks",
    GpuThreads: "gpu_threads",
}
_MEMORY: Mapping[str, Any] = {
    "heap": hl.MemoryType.Heap,
    "stack": hl.MemoryType.Stack,
    "register": hl.MemoryType.Register,
    "gpu_shared": hl.MemoryType.GPUShared,
}


def apply_schedule(pipeline: HalidePipeline, schedule: Schedule) -> None:
    """Order the loops of a pipeline that was made for this schedule.

    Raises:
        ScheduleError: a primitive cannot be applied; says which, and why.
    """
    for func in pipeline.reductions:
        func.compute_root()
    for number, primitive in enumerate(schedule.primitives):
        if number in pipeline.consumed:
            continue
        try:
            _apply(pipeline.nests, primitive)
        except (LookupError, hl.HalideError) as error:
            raise ScheduleError(number, reason_of(error)) from error
    for name, halves in pipeline.halves.items():
        _place_inside(pipeline.nests[name], halves)


def _place_inside(made: LoopNests, halves: Sequence[Any]) -> None:
    """What combines partial results, in the innermost loop of whatever reads the result."""
    loop = next(reversed(made.loops[0].values()), hl.Var.outermost())
    for one in halves:
        one.compute_at(made.func, loop)


def reason_of(error: Exception) -> str:
    """What Halide says, or that a name is not there: one line without a full stop."""
    text = re.sub(r"\$\d+", "", str(error.args[0]) if error.args else "")
    lines = [line.strip().removeprefix("Error: ") for line in text.splitlines()]
    return " ".join(line for line in lines if line).rstrip(".") or "Halide refuses it"


def _apply(nests: Mapping[str, LoopNests], primitive: Primitive) -> None:
    made = _found(nests, primitive.func, "Func")
    match primitive:
        case ComputeRoot():
            made.func.compute_root()
        case ComputeInline():
            made.func.compute_inline()
        case ComputeAt():
            reader = _found(nests, primitive.reader, "Func")
            made.func.compute_at(reader.func, _loop(reader, primitive.loop))
        case StoreAt():
            reader = _found(nests, primitive.reader, "Func")
            made.func.store_at(reader.func, _loop(reader, primitive.loop))
        case StoreRoot():
            made.func.store_root()
        case StoreIn() | Bound() | BoundExtent() | AlignStorage() | ReorderStorage():
            _store(made, primitive)
        case Atomic():
            made.func.update(0).atomic()
        case RFactor():
            raise LookupError("its split is missing")
        case In():
            raise LookupError(f"{primitive.func} is no tensor that is read through a copy")
        case _:
            _order(made, primitive)


def _store(
    made: LoopNests, primitive: StoreIn | Bound | BoundExtent | AlignStorage | ReorderStorage
) -> None:
    axes = made.loops[0]
    match primitive:
        case StoreIn():
            made.func.store_in(_MEMORY[primitive.memory])
        case Bound():
            made.func.bound(_found(axes, primitive.loop, "axis"), 0, primitive.extent)
        case BoundExtent():
            made.func.bound_extent(_found(axes, primitive.loop, "axis"), primitive.extent)
        case AlignStorage():
            made.func.align_storage(_found(axes, primitive.loop, "axis"), primitive.factor)
        case ReorderStorage():
            names = reversed(primitive.loops)
            made.func.reorder_storage(*(_found(axes, name, "axis") for name in names))
        case _:
            assert_never(primitive)


def _order(
    made: LoopNests,
    primitive: LoopPrimitive,
) -> None:
    if primitive.nest >= len(made.loops):
        raise LookupError(f"{primitive.func} has no nest {primitive.nest}")
    stage = made.func.update(0) if primitive.nest else made.func
    loops = made.loops[primitive.nest]
    match primitive:
        case Split():
            old = _found(loops, primitive.loop, "loop")
            outer, inner = (type(old)(_plain(n)) for n in (primitive.outer, primitive.inner))
            stage.split(old, outer, inner, primitive.factor, _TAILS[primitive.tail])
            del loops[primitive.loop]
            loops |= {primitive.outer: outer, primitive.inner: inner}
        case Fuse():
            outer = _found(loops, primitive.outer, "loop")
            inner = _found(loops, primitive.inner, "loop")
            fused = type(outer)(_plain(primitive.fused))
            stage.fuse(inner, outer, fused)
            del loops[primitive.outer], loops[primitive.inner]
            loops[primitive.fused] = fused
        case Reorder():
            stage.reorder(*(_found(loops, name, "loop") for name in reversed(primitive.loops)))
        case Vectorize() | Unroll() | Parallel() | GpuBlocks() | GpuThreads():
            run = getattr(stage, _RUNS[type(primitive)])
            run(_found(loops, primitive.loop, "loop"))
        case GpuSingleThread():
            stage.gpu_single_thread()
        case _:
            assert_never(primitive)


def _loop(made: LoopNests, name: str) -> Any:
    for loops in made.loops:
        if name in loops:
            return loops[name]
    raise LookupError(f"there is no loop {name}")


def _found(named: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise LookupError(f"there is no {what} {name}")
    return named[name]


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)
