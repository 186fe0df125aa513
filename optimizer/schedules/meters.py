"""Parallelism, redundant work and locality of a nest: what a schedule trades for what."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.limits import MIB
from optimizer.schedules.locality import Locality
from optimizer.schedules.nest import Nest
from optimizer.schedules.ordering import Run

LEVELS = (("L1", 32 << 10), ("L2", MIB), ("L3", 32 * MIB))
"""Caches of a usual server core, and their bytes; of the last, what one kernel may hope for."""

_TASKS: tuple[Run, ...] = ("parallel", "gpu_block", "gpu_thread")


@dataclass(frozen=True, slots=True)
class FuncMeters:
    """Of one Func.

    Attributes:
        computed: elements computed; of a reduction, combinations.
        needed: the same, if nothing were computed twice.
        tasks: rounds that run on threads of their own, at a time.
        lanes: elements in one instruction.
        independent: rounds that need nothing of each other, however they run.
        working_set_bytes: held from producing to the last read; 0 where that is in registers, and
            of outputs, which nothing reads.
        fits: the first cache that holds it; empty where only memory does.
        reuse_distance: operations between producing an element and reading it, at most.
    """

    func: str
    computed: float
    needed: float
    tasks: int
    lanes: int
    independent: int
    working_set_bytes: int
    fits: str
    reuse_distance: float

    @property
    def amplification(self) -> float:
        """Elements computed for each that is needed."""
        return self.computed / self.needed if self.needed else 1.0


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes that cross between a cache and what is behind it."""

    level: str
    cache_bytes: int
    moved_bytes: float


@dataclass(frozen=True, slots=True)
class Meters:
    """Of a nest.

    Attributes:
        funcs: each after those that it reads.
        operations: on elements, in all.
        amplification: operations done for each that has to be.
        tasks: of the Func with most operations, as the next two.
        lanes: elements in one instruction.
        independent: rounds that need nothing of each other.
        working_set_bytes: the largest of any Func.
        moved: behind each cache, the smallest first.
    """

    funcs: tuple[FuncMeters, ...]
    operations: float
    amplification: float
    tasks: int
    lanes: int
    independent: int
    working_set_bytes: int
    moved: tuple[Moved, ...]


def meters_of(
    nest: Nest,
    levels: tuple[tuple[str, int], ...] = LEVELS,
    locality: Locality | None = None,
) -> Meters:
    """The meters of a nest.

    Args:
        nest: after any primitives.
        levels: caches, the smallest first, and their bytes.
        locality: of it, where it is known already.
    """
    locality = locality or Locality.of(nest.regions)
    work = locality.work
    placed = nest.regions.placed
    stages = {one.stage.func: one.stage for one in placed.stages()}  # the last of each Func
    heaviest = max(
        stages.values(),
        key=lambda one: work.executions[one.func, one.number] * work.operations(one),
    )
    funcs: list[FuncMeters] = []
    for name in work.funcs:
        stage, is_output = stages.get(name, heaviest), name in placed.program.outputs
        held = 0 if is_output else locality.working_set(name)
        fits = next((level for level, size in levels if held < size), "")
        funcs.append(
            FuncMeters(
                name,
                work.computed(name),
                work.needed(name),
                work.side_by_side(stage, *_TASKS),
                work.side_by_side(stage, "vector"),
                work.independent(stage),
                held,
                fits if held else "registers",
                0 if is_output else locality.reuse_distance(name),
            )
        )
    done = work.done()
    return Meters(
        tuple(funcs),
        done,
        done / work.least(),
        work.side_by_side(heaviest, *_TASKS),
        work.side_by_side(heaviest, "vector"),
        work.independent(heaviest),
        max((one.working_set_bytes for one in funcs), default=0),
        tuple(Moved(name, size, locality.moved(size)) for name, size in levels),
    )
