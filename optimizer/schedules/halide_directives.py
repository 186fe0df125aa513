"""Primitives of a schedule as Halide's directives, as they stand in a program."""

from __future__ import annotations

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
    Split,
    StoreAt,
    StoreIn,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.halide_names import Names
from optimizer.schedules.halide_words import NoProgram, Words

_MEMORY = {"heap": "Heap", "stack": "Stack", "register": "Register", "gpu_shared": "GPUShared"}
_TAILS = {
    "auto": "Auto", "round_up": "RoundUp", "guard_with_if": "GuardWithIf",
    "predicate": "Predicate", "predicate_loads": "PredicateLoads",
    "predicate_stores": "PredicateStores", "shift_inwards": "ShiftInwards",
}  # fmt: skip


def directive(one: Primitive, names: Names, words: Words) -> str:
    """A statement without its end; loops that it makes have names from then on.

    Raises:
        NoProgram: it changes definitions, which is not written.
    """
    func = names.func(one.func)
    match one:
        case ComputeRoot():
            return f"{func}.compute_root()"
        case ComputeInline():
            return f"{func}.compute_inline()"
        case StoreRoot():
            return f"{func}.store_root()"
        case ComputeAt() | StoreAt():
            verb = "compute_at" if isinstance(one, ComputeAt) else "store_at"
            return f"{func}.{verb}({names.func(one.reader)}, {_loop_of(one, names)})"
        case Atomic():
            return f"{func}.update().atomic()"
        case In() | RFactor():
            raise NoProgram(
                "Sums side by side and copies of tensors are not exported as a program yet."
            )
        case StoreIn() | Bound() | BoundExtent() | AlignStorage() | ReorderStorage():
            return f"{func}.{_stored(one, names, words)}"
        case _:
            stage = f"{func}.update()" if one.nest else func
            return f"{stage}.{_order(one, names, words)}"


def _loop_of(one: ComputeAt | StoreAt, names: Names) -> str:
    nests = (names.loops.get((one.reader, number), {}) for number in (0, 1))
    return next(loops[one.loop] for loops in nests if one.loop in loops)


def _stored(
    one: StoreIn | Bound | BoundExtent | AlignStorage | ReorderStorage, names: Names, words: Words
) -> str:
    if isinstance(one, StoreIn):
        return f"store_in({words.constant('MemoryType', _MEMORY[one.memory])})"
    axes = names.axes[one.func]
    match one:
        case Bound():
            return f"bound({axes[one.loop]}, 0, {one.extent})"
        case BoundExtent():
            return f"bound_extent({axes[one.loop]}, {one.extent})"
        case AlignStorage():
            return f"align_storage({axes[one.loop]}, {one.factor})"
        case ReorderStorage():
            return f"reorder_storage({', '.join(axes[name] for name in reversed(one.loops))})"


def _order(
    one: LoopPrimitive,
    names: Names,
    words: Words,
) -> str:
    loops = names.loops[one.func, one.nest]
    match one:
        case Split():
            old = loops.pop(one.loop)
            made = (
                names.new_loop(one.func, one.nest, name, old) for name in (one.outer, one.inner)
            )
            tail = words.constant("TailStrategy", _TAILS[one.tail])
            return f"split({old}, {', '.join(made)}, {one.factor}, {tail})"
        case Fuse():
            outer, inner = loops.pop(one.outer), loops.pop(one.inner)
            fused = names.new_loop(one.func, one.nest, one.fused, inner)
            return f"fuse({inner}, {outer}, {fused})"
        case Reorder():
            return f"reorder({', '.join(loops[name] for name in reversed(one.loops))})"
        case Vectorize():
            return f"vectorize({loops[one.loop]})"
        case Unroll():
            return f"unroll({loops[one.loop]})"
        case Parallel():
            return f"parallel({loops[one.loop]})"
        case GpuBlocks():
            return f"gpu_blocks({loops[one.loop]})"
        case GpuThreads():
            return f"gpu_threads({loops[one.loop]})"
        case GpuSingleThread():
            return "gpu_single_thread()"
