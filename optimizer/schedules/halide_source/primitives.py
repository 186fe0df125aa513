"""Each call of a schedule's text as the primitives that do the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
    Parallel,
    Primitive,
    Reorder,
    ReorderStorage,
    Split,
    StoreAt,
    StoreIn,
    StoreRoot,
    Tail,
    Unroll,
    Vectorize,
)
from optimizer.schedules.halide_source.directives import Directive, NotImported

_TAILS: Mapping[str, Tail] = {
    "Auto": "auto", "RoundUp": "round_up", "GuardWithIf": "guard_with_if",
    "Predicate": "predicate", "PredicateLoads": "predicate_loads",
    "PredicateStores": "predicate_stores", "ShiftInwards": "shift_inwards",
}  # fmt: skip
_MEMORY: Mapping[str, Literal["heap", "stack", "register", "gpu_shared"]] = {
    "Heap": "heap", "Stack": "stack", "Register": "register", "GPUShared": "gpu_shared",
}  # fmt: skip
_Run = type[Vectorize | Unroll | Parallel | GpuBlocks | GpuThreads]


@dataclass(frozen=True)
class Call:
    """A directive whose names are ours.

    Attributes:
        func: ours.
        directive: as the text has it.
        loop: our name of one of the Func's loops.
        reader: our name of another Func, and of one of its loops.
        fresh: a name for a loop that the text does not name.
    """

    func: str
    directive: Directive
    loop: Callable[[str], str]
    reader: Callable[[str, str], tuple[str, str]]
    fresh: Callable[[str], str]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Its arguments, without the kind of GPU."""
        given = self.directive.arguments
        return tuple(one for one in given if not one.startswith("DeviceAPI"))

    def loops(self) -> tuple[str, ...]:
        """Its arguments as loops, the outermost first: Halide begins with the innermost."""
        return tuple(self.loop(one) for one in reversed(self.arguments))


def primitives_of(call: Call) -> tuple[Primitive, ...]:
    """What does the same as a call.

    Raises:
        NotImported: nothing does, or its arguments are not those that it takes.
    """
    found = _CALLS.get(call.directive.name)
    if found is None:
        raise NotImported(
            f"The schedule asks for {call.directive}, and there is no primitive that is "
            f"{call.directive.name}."
        )
    try:
        return tuple(found(call))
    except (ValueError, LookupError, StopIteration, RuntimeError) as error:
        raise NotImported(f"{call.directive} is not written as schedules are.") from error


def _split(call: Call) -> Iterator[Primitive]:
    old, outer, inner, factor, *tail = call.arguments
    loops = call.loop(old), call.loop(outer), call.loop(inner)
    yield _parted(call, loops, factor, tail)


def _parted(call: Call, loops: tuple[str, str, str], factor: str, tail: Sequence[str]) -> Split:
    """A split of a loop into an outer and an inner one."""
    (kind,) = tail or ["Auto"]
    taken = _TAILS[kind.removeprefix("TailStrategy::")]
    return Split(call.func, *loops, int(factor), taken, call.directive.nest)


def _fuse(call: Call) -> Iterator[Primitive]:
    inner, outer, fused = call.arguments
    yield Fuse(call.func, call.loop(outer), call.loop(inner), call.loop(fused), call.directive.nest)


def _reorder(call: Call) -> Iterator[Primitive]:
    yield Reorder(call.func, call.loops(), call.directive.nest)


def _tile(call: Call) -> Iterator[Primitive]:
    given = call.arguments
    count = next(number for number, one in enumerate(given) if one.isdigit())
    old = [call.loop(one) for one in given[:2]]
    made = [call.loop(one) for one in given[2:count]]
    factors, tail = given[count : count + 2], given[count + 2 :]
    outer, inner = (made[:2] if len(made) == 4 else old), made[-2:]
    for number in (0, 1):
        loops = old[number], outer[number], inner[number]
        yield _parted(call, loops, factors[number], tail)
    yield Reorder(call.func, (outer[1], outer[0], inner[1], inner[0]), call.directive.nest)


def _running(run: _Run, *, takes_outer: bool = False) -> Callable[[Call], Iterator[Primitive]]:
    """Loops that run so; with a number, of a loop that is split by it first."""

    def found(call: Call) -> Iterator[Primitive]:
        nest = call.directive.nest
        if len(call.arguments) < 2 or not call.arguments[1].isdigit():
            for one in call.arguments:
                yield run(call.func, call.loop(one), nest)
            return
        name, factor, *tail = call.arguments
        old, inner = call.loop(name), call.fresh(name)
        yield _parted(call, (old, old, inner), factor, tail)
        yield run(call.func, old if takes_outer else inner, nest)

    return found


def _compute_at(call: Call) -> Iterator[Primitive]:
    yield ComputeAt(call.func, *call.reader(*_two(call)))


def _store_at(call: Call) -> Iterator[Primitive]:
    yield StoreAt(call.func, *call.reader(*_two(call)))


def _two(call: Call) -> tuple[str, str]:
    one, other = call.arguments
    return one, other


def _store_in(call: Call) -> Iterator[Primitive]:
    (kind,) = call.arguments
    if kind != "MemoryType::Auto":
        yield StoreIn(call.func, _MEMORY[kind.removeprefix("MemoryType::")])


def _reorder_storage(call: Call) -> Iterator[Primitive]:
    yield ReorderStorage(call.func, call.loops())


def _align_storage(call: Call) -> Iterator[Primitive]:
    axis, factor = call.arguments
    yield AlignStorage(call.func, call.loop(axis), int(factor))


def _bound(call: Call) -> Iterator[Primitive]:
    axis, least, extent = call.arguments
    if int(least) != 0:
        raise ValueError("bounds begin at 0")
    yield Bound(call.func, call.loop(axis), int(extent))


def _bound_extent(call: Call) -> Iterator[Primitive]:
    axis, extent = call.arguments
    yield BoundExtent(call.func, call.loop(axis), int(extent))


def _nothing(call: Call) -> Iterator[Primitive]:
    """Loops are serial where nothing is said."""
    for one in call.arguments:
        call.loop(one)
    return iter(())


_CALLS: Mapping[str, Callable[[Call], Iterator[Primitive]]] = {
    "split": _split, "fuse": _fuse, "reorder": _reorder, "tile": _tile, "serial": _nothing,
    "unscheduled": _nothing,
    "vectorize": _running(Vectorize), "unroll": _running(Unroll),
    "parallel": _running(Parallel, takes_outer=True),
    "gpu_blocks": _running(GpuBlocks), "gpu_threads": _running(GpuThreads),
    "gpu_single_thread": lambda call: iter((GpuSingleThread(call.func, call.directive.nest),)),
    "compute_at": _compute_at, "store_at": _store_at, "store_in": _store_in,
    "compute_root": lambda call: iter((ComputeRoot(call.func),)),
    "compute_inline": lambda call: iter((ComputeInline(call.func),)),
    "store_root": lambda call: iter((StoreRoot(call.func),)),
    "atomic": lambda call: iter((Atomic(call.func),)),
    "reorder_storage": _reorder_storage, "align_storage": _align_storage,
    "bound": _bound, "bound_extent": _bound_extent,
}  # fmt: skip
