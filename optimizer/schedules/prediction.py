"""How long a nest takes, guessed from its loops and its meters: to rank schedules, not to time one.

Operations, accesses to the first cache, the counting of rounds and what crosses behind each cache
overlap, so the longest of them decides; what begins loops and tasks comes on top. Sums that are
combined in one register one after the other wait for each other. Caches are warm: what fits into
one altogether is still there from whoever wrote it.

Source: the roofline of Williams et al. 2009, a cache at a time as in Stengel et al. 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.schedules.locality import LINE_BYTES, Locality
from optimizer.schedules.machine_model import USUAL, MachineModel
from optimizer.schedules.nest import Nest
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.placing import LoopKey
from optimizer.schedules.strides import Access, reads_of, write_of
from optimizer.schedules.work import Work

NOT_GUESSED = "not guessed: runs on a GPU"
_REGISTERS = 28
"""Vectors of sums that stay in registers: a few of 32 hold what is read."""
_FAR_BYTES = 2048
"""Half a page: what is fetched ahead does not go further."""
_FETCHED_BYTES = 1024
"""A row of so many is fetched ahead for most of it."""
_MOST_UNDER_WAY = 10
"""Lines that a core waits for at a time."""
_GATHERED = 3
"""Instructions for each element of a vector that do not lie side by side."""
_GUARDED = frozenset({"guard_with_if", "auto"})
_S = 1e-9


@dataclass(frozen=True, slots=True)
class Prediction:
    """Of one run.

    Attributes:
        computing: seconds of operations, accesses to the first cache and rounds.
        looping: seconds until loops and tasks have begun.
        moving: seconds of what crosses behind the cache that takes longest.
    """

    computing: float
    looping: float
    moving: float

    @property
    def seconds(self) -> float:
        """All of it: what moves does so while something is computed."""
        return max(self.computing, self.moving) + self.looping


def predicted(
    nest: Nest, machine: MachineModel = USUAL, locality: Locality | None = None
) -> Prediction:
    """How long a nest takes on a machine.

    Args:
        nest: any.
        machine: on which.
        locality: of the nest, where it is known already.
    """
    locality = locality or Locality.of(nest.regions)
    work = locality.work
    stages = [_StageTime(nest, work, one, machine) for one in nest.regions.placed.stages()]
    moving = _moving(locality, stages, machine)
    if locality.footprint() > machine.levels[-1].size_bytes:
        moving = max(moving, sum(one.jumping() for one in stages))
    return Prediction(
        sum(one.computing() for one in stages), sum(one.looping() for one in stages), moving
    )


def _moving(locality: Locality, stages: Sequence[_StageTime], machine: MachineModel) -> float:
    """Seconds for what crosses behind the slowest cache; what is behind a shared one is shared."""
    held, sharing = locality.footprint(), max((one.sharing for one in stages), default=1.0)
    longest = 0.0
    for number, level in enumerate(machine.levels):
        if held <= level.size_bytes:
            break
        moved = locality.moved(level.size_bytes)
        seconds = moved / level.behind_bytes_per_s
        if number == 0 and any(one.is_far() for one in stages):
            seconds = moved / LINE_BYTES * machine.far_ns * _S
        longest = max(longest, seconds / (1 if level.shared else sharing))
    return longest


class _StageTime:
    """One stage's part.

    Attributes:
        sharing: threads that its rounds keep busy, on average.
    """

    def __init__(self, nest: Nest, work: Work, one: StageLoops, machine: MachineModel) -> None:
        self._regions, self._work, self._one, self._machine = nest.regions, work, one, machine
        self._path = nest.regions.placed.path(one.stage)
        self._own = self._path[len(nest.regions.placed.compute[one.stage.func]) :]
        self._extents = {key.name: self._usual(key) for key in self._own}
        self._lanes = [name for name, run in one.runs.items() if run == "vector"]
        self._copied = [name for name, run in one.runs.items() if run == "unrolled"]
        counted = [key.name for key in self._own if self._is_counted(key)]
        self._inner = counted[-1] if counted else ""
        self._reads = [*reads_of(self._regions, one)]
        self._write = write_of(self._regions, one)
        tasks = work.side_by_side(one.stage, "parallel")
        self.sharing = tasks / math.ceil(tasks / machine.threads)

    def _usual(self, key: LoopKey) -> int:
        around = self._regions.placed.compute[key.func]
        return max(1, self._regions.usual(self._regions.extent(key), around))

    def _is_counted(self, key: LoopKey) -> bool:
        """Whether there is a loop of it in the code: other than vectors, and of more rounds."""
        return (
            self._one.runs[key.name] not in ("vector", "unrolled") and self._extents[key.name] > 1
        )

    def _product(self, names: Iterable[str]) -> int:
        return math.prod(self._extents[name] for name in names)

    def computing(self) -> float:
        """Seconds of its operations, accesses and rounds."""
        stage, machine = self._one.stage, self._machine
        lanes, copies = self._product(self._lanes), self._product(self._copied)
        executions = self._work.executions[stage.func, stage.number]
        rounds = executions / (lanes * copies)
        operations = self._work.operations(stage)
        vectors = operations * copies * self._vectors()
        accesses = sum(self._accesses(one) for one in self._reads)
        accesses += self._written()
        longest = max(
            vectors * machine.operation_ns,
            accesses * machine.access_ns,
            self._waiting(),
            machine.round_ns if self._inner else 0.0,
        )
        scalar = self._guarded() * max(1, operations) * machine.operation_ns
        return (rounds * longest + scalar) * _S / self.sharing

    def _vectors(self) -> int:
        """Instructions for one vector of the schedule."""
        size = self._regions.placed.program.by_name[self._one.stage.func].element_bytes
        return math.ceil(self._product(self._lanes) * size / self._machine.vector_bytes)

    def _accesses(self, access: Access) -> float:
        """Instructions that read a place, of one round of the innermost loop that is counted."""
        copies = self._product(name for name in self._copied if access.step[name] != 0)
        found = copies * self._per_vector(access)
        if self._inner and access.step[self._inner] == 0:
            return found / self._extents[self._inner]
        return found

    def _per_vector(self, access: Access) -> int:
        steps = [access.step[name] for name in self._lanes]
        if all(step == 0 for step in steps):
            return 1
        if steps[-1] == 1:
            return self._vectors()
        return _GATHERED * self._product(self._lanes)

    def _written(self) -> float:
        """Instructions that write, and that read what is combined."""
        found = self._accesses(self._write)
        if not self._one.stage.number:
            return found
        return 2 * self._sums() if self._inner and not self._stays() else 2 * found

    def _sums(self) -> int:
        """Vectors of sums that one round of the innermost loop combines."""
        copies = self._product(name for name in self._copied if self._write.step[name] != 0)
        return copies * self._per_vector(self._write)

    def _stays(self) -> bool:
        """Whether the sums stay in registers while the innermost loop runs."""
        if self._inner not in self._one.reducing:
            return False
        return self._sums() <= _REGISTERS

    def _waiting(self) -> float:
        """Nanoseconds until a sum can be combined again, where rounds follow each other."""
        if not self._one.stage.number or self._inner not in self._one.reducing:
            return 0.0
        again = self._product(name for name in self._copied if name in self._one.reducing)
        return self._machine.latency_ns * again

    def _guarded(self) -> float:
        """Elements that are computed one at a time since a vector would go past the end."""
        found = 0.0
        rounds = self._regions.rounds[self._one.stage.func, self._one.stage.number]
        for split, old in rounds.splits():
            ends = split.tail in _GUARDED and bool(np.any(old % split.factor))
            if ends and split.inner in self._lanes and split.outer in self._extents:
                around = self._product(
                    key.name for key in self._own if key.name not in (split.outer, split.inner)
                )
                path = self._regions.placed.compute[self._one.stage.func]
                found += self._work.rounds(path) * around * split.factor
        return found

    def is_far(self) -> bool:
        """Whether it reads or writes, one round after the other, half a page apart or more."""
        if not self._inner:
            return False
        near = [self._inner, *self._lanes]
        steps = [(one.tensor, one.step[name]) for one in self._all() for name in near]
        program = self._regions.placed.program
        return any(
            step is None or abs(step) * program.element_bytes(tensor) >= _FAR_BYTES
            for tensor, step in steps
        )

    def _all(self) -> list[Access]:
        return [*self._reads, self._write]

    def jumping(self) -> float:
        """Seconds of waiting for memory where rows are too short to be fetched ahead.

        As many rows are waited for at a time as there are instructions of under way.
        """
        counted = [key.name for key in self._own if self._is_counted(key)]
        if len(counted) < 2:
            return 0.0
        program, outer = self._regions.placed.program, counted[-2]
        held = {*program.inputs, *program.outputs}
        short = {
            one.tensor for one in self._all() if one.tensor in held and self._is_short(one, outer)
        }
        executions = self._work.executions[self._one.stage.func, self._one.stage.number]
        lanes, copies = self._product(self._lanes), self._product(self._copied)
        rounds = executions / (lanes * copies)
        each = 2 + self._work.operations(self._one.stage) + len(self._all())
        instructions = each * copies * self._vectors() * self._extents[self._inner]
        under_way = min(_MOST_UNDER_WAY, max(1.0, self._machine.window / instructions))
        rows = rounds / self._extents[self._inner] * len(short)
        return rows * self._machine.memory_ns / under_way * _S / self.sharing

    def _is_short(self, access: Access, outer: str) -> bool:
        """Whether a row of it is left before it was fetched ahead."""
        size = self._regions.placed.program.element_bytes(access.tensor)
        row = self._product([*self._lanes, *self._copied, self._inner]) * size
        far = access.step[outer]
        return row < _FETCHED_BYTES and (far is None or abs(far) * size >= _FAR_BYTES)

    def looping(self) -> float:
        """Seconds of beginning loops and handing out tasks."""
        machine, total = self._machine, 0.0
        depth = len(self._path) - len(self._own)
        for at, key in enumerate(self._own, depth):
            if not self._is_counted(key):
                continue
            rounds = self._rounds(at + 1)
            if self._one.runs[key.name] == "parallel":
                total += rounds * machine.task_us * 1000
            total += self._rounds(at) * machine.loop_ns
        return total * _S / self.sharing

    def _rounds(self, depth: int) -> float:
        """Rounds of the loops down to a depth that are in the code."""
        keys = self._path[:depth]
        own = [key for key in keys if key in self._own]
        written_out = math.prod(self._extents[key.name] for key in own if not self._is_counted(key))
        return self._work.rounds(keys) / max(1, written_out)
