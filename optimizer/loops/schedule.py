"""In which order a kernel computes: primitives over the loops of an algorithm.

Loops are named: a Func has one for each axis, and one more for each axis of its reduction; `Split`
and `Fuse` replace loops by new ones. A Func with a reduction has two nests: number 0 gives every
element its first value, number 1 combines. Where nothing is said, a Func has its axes as loops, the
outermost first, and is computed where it is read (`inlined`), but for outputs and reductions, which
are computed as a whole before whatever reads them.

Source: Halide's directives (Ragan-Kelley et al. 2013), under their names.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Literal

from optimizer.codec import Format, one_of
from optimizer.errors import StudioError

Tail = Literal[
    "auto", "round_up", "guard_with_if", "predicate", "predicate_loads", "predicate_stores",
    "shift_inwards",
]  # fmt: skip
"""What happens to a split whose factor does not divide the extent; `predicate` masks loads and
stores, `predicate_loads` and `predicate_stores` one of the two and go past the end with the other,
`shift_inwards` computes some elements twice, `round_up` reads and writes past the end. In lanes of
a reduction (`RFactor`), `round_up` reads past the end and takes nothing from there."""


@dataclass(frozen=True, slots=True)
class Split:
    """One loop as two: `loop` = `outer` x `factor` + `inner`."""

    func: str
    loop: str
    outer: str
    inner: str
    factor: int
    tail: Tail = "guard_with_if"
    nest: int = 0


@dataclass(frozen=True, slots=True)
class Fuse:
    """Two loops, one right inside the other, as one."""

    func: str
    outer: str
    inner: str
    fused: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class Reorder:
    """Loops in another order: those named take the places they have among themselves.

    Attributes:
        loops: the outermost first.
    """

    func: str
    loops: tuple[str, ...]
    nest: int = 0


@dataclass(frozen=True, slots=True)
class Vectorize:
    """A loop as one vector instruction; its extent must be a number, such as a split's factor."""

    func: str
    loop: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class Unroll:
    """A loop written out; its extent must be a number."""

    func: str
    loop: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class Parallel:
    """A loop whose rounds run on all threads."""

    func: str
    loop: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class GpuBlocks:
    """A loop whose rounds are thread blocks of a GPU; Funcs computed in one share its memory."""

    func: str
    loop: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class GpuThreads:
    """A loop whose rounds are the threads of a block; its extent must be a number."""

    func: str
    loop: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class GpuSingleThread:
    """All of a nest by a single thread of a GPU: a block and a thread around its loops."""

    func: str
    nest: int = 0


@dataclass(frozen=True, slots=True)
class ComputeRoot:
    """All of a Func before whatever reads it."""

    func: str


@dataclass(frozen=True, slots=True)
class ComputeAt:
    """What one round of a reader's loop needs of a Func, computed in that round.

    Attributes:
        reader: a Func that reads it, if through others that are inlined.
        loop: of the reader.
    """

    func: str
    reader: str
    loop: str


@dataclass(frozen=True, slots=True)
class In:
    """A tensor is read through a Func of its own, which is a copy of what is needed of it.

    Attributes:
        func: an input, or a Func that is no output.
        made: the Func's name; its axes are `a0`, `a1`, …, the outermost first.
        reader: the Func that reads the copy; empty where all do. Copies for one reader are of the
            copy for all, if there is one.
    """

    func: str
    made: str
    reader: str = ""


@dataclass(frozen=True, slots=True)
class StoreAt:
    """A Func's memory lives for one round of a reader's loop, outside that where it is computed."""

    func: str
    reader: str
    loop: str


@dataclass(frozen=True, slots=True)
class StoreRoot:
    """A Func's memory lives from first to last, whatever loop it is computed in."""

    func: str


@dataclass(frozen=True, slots=True)
class ComputeInline:
    """A Func is computed again wherever it is read."""

    func: str


@dataclass(frozen=True, slots=True)
class StoreIn:
    """Where a Func's memory lies."""

    func: str
    memory: Literal["heap", "stack", "register", "gpu_shared"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A promise about an axis' extent, so that loops over it can be unrolled or vectorized."""

    func: str
    loop: str
    extent: int


@dataclass(frozen=True, slots=True)
class BoundExtent:
    """A promise about how much of an axis is computed at a time, wherever that begins."""

    func: str
    loop: str
    extent: int


@dataclass(frozen=True, slots=True)
class ReorderStorage:
    """A Func's axes lie in memory in another order.

    Attributes:
        loops: its axes, the outermost first.
    """

    func: str
    loops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlignStorage:
    """Memory for a multiple of so many elements along an axis: vectors may go past its end."""

    func: str
    loop: str
    factor: int


@dataclass(frozen=True, slots=True)
class RFactor:
    """Part of a reduction as a Func of its own, which then is reduced: sums side by side.

    The new Func has the outer loop of the split in its nest 1, and one more axis. What is left has
    a single nest: it combines the first half of the results with the second, and so on.

    Attributes:
        loop: of the reduction, the inner one of a split.
        made: the name of the new Func.
        axis: the name that the loop has as its axis.
    """

    func: str
    loop: str
    made: str
    axis: str


@dataclass(frozen=True, slots=True)
class Atomic:
    """Rounds of a reduction may run side by side: each combines as one undivided act."""

    func: str


LoopPrimitive = (
    Split | Fuse | Reorder | Vectorize | Unroll | Parallel | GpuBlocks | GpuThreads
    | GpuSingleThread
)  # fmt: skip
"""Those that change the loops of one nest."""
Primitive = (
    In | LoopPrimitive | ComputeRoot | ComputeAt | StoreAt | StoreRoot | ComputeInline | StoreIn
    | ReorderStorage | AlignStorage | Bound | BoundExtent | RFactor | Atomic
)  # fmt: skip
one_of(Primitive, "primitive")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Primitives in the order in which they are applied."""

    primitives: tuple[Primitive, ...] = ()

    @property
    def names(self) -> set[str]:
        """Every Func and loop that it names."""
        fields = (one for primitive in self.primitives for one in astuple(primitive))
        return {one for one in fields if isinstance(one, str)}

    @property
    def needs_gpu(self) -> bool:
        """Whether it is for a GPU alone."""
        return any(
            isinstance(one, GpuBlocks | GpuThreads | GpuSingleThread) for one in self.primitives
        )


class ScheduleError(StudioError):
    """A primitive that cannot be applied.

    Attributes:
        index: its number in the schedule; None where no single one is to blame.
        reason: why not.
    """

    def __init__(self, index: int | None, reason: str) -> None:
        which = "The schedule" if index is None else f"Primitive {index} of the schedule"
        super().__init__(f"{which} cannot be applied: {reason}.")
        self.index, self.reason = index, reason


SCHEDULE = Format(Schedule, "passlens.schedule/1", "schedule")
