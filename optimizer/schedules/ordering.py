"""Primitives applied to the loops of each Func, one after another.

What depends on other Funcs (whether a place lies around all that reads) is decided in `placing`,
once all primitives are applied: their order does not matter there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from optimizer.loops.algorithm import Algorithm
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
    ScheduleError,
    Split,
    StoreAt,
    StoreIn,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.program import LoopFunc, Program, Stage, program_of

Run = Literal["serial", "parallel", "vector", "unrolled", "gpu_block", "gpu_thread"]
"""How the rounds of a loop follow each other."""
_SIDE_BY_SIDE: Mapping[type[Primitive], Run] = {
    Vectorize: "vector", Parallel: "parallel", GpuBlocks: "gpu_block", GpuThreads: "gpu_thread",
}  # fmt: skip
_REDUCING_TAILS = frozenset({"auto", "guard_with_if", "predicate"})


class Refused(Exception):
    """A primitive cannot be applied; the text says why."""


@dataclass(frozen=True, slots=True)
class At:
    """In each round of a loop of a reader."""

    reader: str
    loop: str


Where = Literal["inline", "root"] | At


@dataclass
class StageLoops:
    """The loops of one stage as they are by now.

    Attributes:
        loops: their names, the outermost first.
        runs: of each.
        reducing: those whose rounds combine into the same elements.
        single: those of one round, around all that there is.
        made: the splits and fusions so far, tails settled.
        named: the loops in the order in which they came to be.
    """

    stage: Stage
    loops: list[str]
    runs: dict[str, Run]
    reducing: set[str]
    made: list[Split | Fuse] = field(default_factory=list[Split | Fuse])
    named: dict[str, None] = field(default_factory=dict[str, None])
    gone: set[str] = field(default_factory=set[str])
    single: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, stage: Stage) -> StageLoops:
        """Those that a stage has where nothing is said."""
        names = [axis.name for axis in (*stage.axes, *stage.reduced)]
        runs: dict[str, Run] = dict.fromkeys(names, "serial")
        reducing = {axis.name for axis in stage.reduced}
        return cls(stage, names, runs, reducing, named=dict.fromkeys(names))

    def known(self, name: str) -> str:
        """The name, if there is such a loop now.

        Raises:
            Refused: there is none.
        """
        if name in self.runs:
            return name
        if name in self.gone:
            raise Refused(f"loop {name} of {self.stage.func} is gone: it was split or fused before")
        there = ", ".join(self.loops) or "none"
        raise Refused(f"{self.stage.func} has no loop {name}; its loops are {there}")

    def enclose(self, run: Run) -> None:
        """A loop of one round around all others; its name says how it runs."""
        name = str(run)
        while name in self.runs:
            name += "_"
        self.loops.insert(0, name)
        self.runs[name] = run
        self.named = {name: None, **self.named}
        self.single.append(name)

    def replace(self, old: Sequence[str], new: Sequence[str], at: int) -> None:
        """Other loops in place of these, from a position on; they run as the last of these did."""
        reduces = any(name in self.reducing for name in old)
        for name in new:
            if name in self.runs and name not in old:
                raise Refused(f"{self.stage.func} has a loop {name} already")
        if len(set(new)) < len(new):
            raise Refused("two loops need two names")
        run = self.runs[old[-1]]
        for name in old:
            self.loops.remove(name)
            self.reducing.discard(name)
            del self.runs[name], self.named[name]
        self.gone |= set(old)
        self.gone -= set(new)
        self.loops[at:at] = new
        for name in new:
            self.runs[name] = run
            self.named[name] = None
        self.reducing |= set(new) if reduces else set()


@dataclass
class FuncOrder:
    """What is said of a Func by now.

    Attributes:
        compute: where it is computed.
        store: where its memory lives; None where it is computed.
        bounds: promised extents of its axes, which begin at 0.
        extents: promised extents of what is computed at a time.
    """

    func: LoopFunc
    stages: tuple[StageLoops, ...]
    compute: Where
    store: Where | None = None
    bounds: dict[str, int] = field(default_factory=dict[str, int])
    extents: dict[str, int] = field(default_factory=dict[str, int])
    memory: str = ""
    is_atomic: bool = False


@dataclass(frozen=True)
class Ordered:
    """A program with its loops ordered."""

    program: Program
    orders: Mapping[str, FuncOrder]


def ordered(algorithm: Algorithm, primitives: Sequence[Primitive]) -> Ordered:
    """The loops of an algorithm after these primitives.

    Raises:
        ScheduleError: one of them cannot be applied; says which, and why.
    """
    program = program_of(algorithm, primitives)
    orders = unordered(program)
    for number, primitive in enumerate(primitives):
        if number in program.consumed:
            continue
        try:
            _apply(orders, program, primitive)
        except Refused as refused:
            raise ScheduleError(number, str(refused)) from refused
    place_halves(orders)
    return Ordered(program, orders)


def unordered(program: Program) -> dict[str, FuncOrder]:
    """The loops of each Func where nothing is said."""
    orders = {
        func.name: FuncOrder(
            func,
            tuple(StageLoops.of(stage) for stage in func.stages),
            "root" if _is_root(func, program) else "inline",
        )
        for func in program.funcs
    }
    for order in orders.values():
        if order.func.inside:
            _order_half(order)
    return orders


def place_halves(orders: Mapping[str, FuncOrder]) -> None:
    """Put what combines partial results innermost in the Func that it is for."""
    for order in orders.values():
        if order.func.inside:
            reader = orders[order.func.inside]
            order.compute = At(order.func.inside, next(reversed(reader.stages[0].named), ""))


def _is_root(func: LoopFunc, program: Program) -> bool:
    read_by_halves = any(one.inside == func.name for one in program.funcs)
    return func.reduces or func.name in program.outputs or read_by_halves


def _order_half(order: FuncOrder) -> None:
    lane = order.stages[0].loops[-1]
    if order.func.shape[-1] > 1:
        order.stages[0].runs[lane] = "vector"


def _apply(orders: Mapping[str, FuncOrder], program: Program, primitive: Primitive) -> None:
    order = orders.get(primitive.func)
    if order is None:
        if isinstance(primitive, In):
            raise Refused(f"there is no tensor {primitive.func}")
        raise Refused(f"there is no Func {primitive.func}; there are {', '.join(orders)}")
    match primitive:
        case ComputeRoot() | ComputeInline():
            order.compute = "root" if isinstance(primitive, ComputeRoot) else "inline"
        case ComputeAt() | StoreAt():
            _place(orders, program, primitive)
        case StoreRoot():
            order.store = "root"
        case StoreIn() | Bound() | BoundExtent() | AlignStorage() | ReorderStorage():
            _keep(order, primitive)
        case Atomic():
            _make_atomic(order)
        case In():
            raise Refused(f"{primitive.func} writes an output: nothing reads it through a copy")
        case RFactor():
            raise Refused(f"the split of {primitive.loop} is missing")
        case _:
            _order(order, primitive)


def _place(
    orders: Mapping[str, FuncOrder], program: Program, primitive: ComputeAt | StoreAt
) -> None:
    reader = orders.get(primitive.reader)
    if reader is None:
        raise Refused(f"there is no Func {primitive.reader}; there are {', '.join(orders)}")
    if primitive.func in program.outputs:
        raise Refused(f"{primitive.func} is an output: nothing around it reads it")
    if not any(primitive.loop in stage.runs for stage in reader.stages):
        reader.stages[-1].known(primitive.loop)
    at, order = At(primitive.reader, primitive.loop), orders[primitive.func]
    if isinstance(primitive, ComputeAt):
        order.compute = at
    else:
        order.store = at


def _make_atomic(order: FuncOrder) -> None:
    if not order.func.reduces or not order.func.is_exact:
        raise Refused(f"{order.func.name} combines floats: another order rounds otherwise")
    order.is_atomic = True


def _keep(
    order: FuncOrder, primitive: StoreIn | Bound | BoundExtent | AlignStorage | ReorderStorage
) -> None:
    axes = {axis.name for axis in order.func.axes}
    names: tuple[str, ...] = ()
    match primitive:
        case StoreIn():
            order.memory = primitive.memory
        case Bound() | BoundExtent() | AlignStorage():
            names = (primitive.loop,)
        case ReorderStorage():
            names = primitive.loops
        case _:
            assert_never(primitive)
    for name in names:
        if name not in axes:
            raise Refused(f"{order.func.name} has no axis {name}")
    if isinstance(primitive, Bound | BoundExtent):
        if primitive.extent < 1:
            raise Refused("an extent is 1 or more")
        kept = order.bounds if isinstance(primitive, Bound) else order.extents
        kept[primitive.loop] = primitive.extent


def _order(
    order: FuncOrder,
    primitive: LoopPrimitive,
) -> None:
    if not 0 <= primitive.nest < len(order.stages):
        raise Refused(f"{primitive.func} has no nest {primitive.nest}")
    stage = order.stages[primitive.nest]
    match primitive:
        case Split():
            _split(stage, primitive)
        case Fuse():
            _fuse(stage, primitive)
        case Reorder():
            _reorder(stage, primitive, is_exact=order.func.is_exact)
        case Vectorize() | Parallel() | GpuBlocks() | GpuThreads():
            if stage.known(primitive.loop) in stage.reducing and not order.is_atomic:
                raise Refused(
                    f"rounds of {primitive.loop} combine into the same elements of "
                    f"{primitive.func}: side by side they would race"
                )
            stage.runs[primitive.loop] = _SIDE_BY_SIDE[type(primitive)]
        case Unroll():
            stage.runs[stage.known(primitive.loop)] = "unrolled"
        case GpuSingleThread():
            stage.enclose("gpu_thread")
            stage.enclose("gpu_block")
        case _:
            assert_never(primitive)


def _split(stage: StageLoops, split: Split) -> None:
    old, tail = stage.known(split.loop), split.tail
    if split.factor < 1:
        raise Refused(f"a split by {split.factor}: factors are 1 or more")
    if old in stage.reducing and tail not in _REDUCING_TAILS:
        raise Refused(f"{tail} would change what {split.func} combines: only an `if` may end {old}")
    if stage.stage.number and tail == "shift_inwards":
        raise Refused(f"shift_inwards would combine elements of {split.func} twice")
    at = stage.loops.index(old)
    if tail == "auto":
        tail = automatic_tail(stage, old)
    stage.replace([old], [split.outer, split.inner], at)
    stage.made.append(replace(split, tail=tail))


def automatic_tail(
    stage: StageLoops, loop: str
) -> Literal["guard_with_if", "round_up", "shift_inwards"]:
    """What Halide takes for `auto`."""
    if loop in stage.reducing:
        return "guard_with_if"
    if stage.stage.number:
        return "round_up"
    shifted: set[str] = set()
    for one in stage.made:
        if isinstance(one, Split) and (one.tail == "shift_inwards" or one.loop in shifted):
            shifted.add(one.outer)
    return "round_up" if loop in shifted else "shift_inwards"


def _fuse(stage: StageLoops, fuse: Fuse) -> None:
    outer, inner = stage.known(fuse.outer), stage.known(fuse.inner)
    if outer == inner:
        raise Refused(f"{outer} cannot be fused with itself")
    if (outer in stage.reducing) != (inner in stage.reducing):
        raise Refused(f"only one of {outer} and {inner} combines: they cannot be one loop")
    place = stage.loops.index(inner)
    at = place - (stage.loops.index(outer) < place)
    stage.replace([outer, inner], [fuse.fused], at)
    stage.made.append(fuse)


def _reorder(stage: StageLoops, reorder: Reorder, *, is_exact: bool) -> None:
    names = [stage.known(name) for name in reorder.loops]
    if len(set(names)) < len(names):
        raise Refused("a loop is named twice")
    places = sorted(stage.loops.index(name) for name in names)
    loops = list(stage.loops)
    for place, name in zip(places, names, strict=True):
        loops[place] = name
    before, after = (
        [one for one in order if one in stage.reducing] for order in (stage.loops, loops)
    )
    if before != after and not is_exact:
        raise Refused(
            f"{', '.join(after)} would combine floats of {reorder.func} in another order, which "
            "rounds otherwise"
        )
    stage.loops = loops
