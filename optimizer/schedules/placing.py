"""Inside which loops each Func is computed, and inside which its memory lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, ScheduleError
from optimizer.schedules.ordering import At, FuncOrder, Ordered, Refused, StageLoops, ordered
from optimizer.schedules.places import Reading
from optimizer.schedules.program import Program, Stage


@dataclass(frozen=True, slots=True)
class LoopKey:
    """A loop of a stage."""

    func: str
    stage: int
    name: str


Path = tuple[LoopKey, ...]
"""Loops around something, the outermost first."""


@dataclass(frozen=True)
class Placed:
    """A program whose loops have their places.

    Attributes:
        compute: by Func, the loops around its stages; not those that are computed where read.
        store: by Func, the loops around its memory.
        reading: what stages read.
    """

    program: Program
    orders: Mapping[str, FuncOrder]
    compute: Mapping[str, Path]
    store: Mapping[str, Path]
    reading: Reading

    def stages(self) -> Iterator[StageLoops]:
        """All stages that have loops, those that are read first."""
        for func in self.program.funcs:
            if func.name in self.compute:
                yield from self.orders[func.name].stages

    def path(self, stage: Stage) -> Path:
        """All loops around what a stage computes: those of others, then its own."""
        loops = self.orders[stage.func].stages[stage.number].loops
        own = tuple(LoopKey(stage.func, stage.number, name) for name in loops)
        return (*self.compute[stage.func], *own)

    def run(self, key: LoopKey) -> str:
        """How a loop runs."""
        return self.orders[key.func].stages[key.stage].runs[key.name]


def placed(algorithm: Algorithm, primitives: Sequence[Primitive]) -> Placed:
    """The loops of an algorithm after these primitives, and what is computed inside which.

    Raises:
        ScheduleError: a primitive cannot be applied, or a Func is computed or kept at a place that
            is not around all that reads it; then no primitive is named.
    """
    found = ordered(algorithm, primitives)
    try:
        return _Placing(found).done()
    except Refused as refused:
        raise ScheduleError(None, str(refused)) from refused


class _Placing:
    """Places found from the outputs backwards: whoever reads a Func has its place before it."""

    def __init__(self, found: Ordered) -> None:
        self._program, self._orders = found.program, found.orders
        inlined = frozenset(
            name
            for name, order in found.orders.items()
            if order.compute == "inline" and not order.func.reduces
            if name not in found.program.outputs
        )
        self._reading = Reading(found.program, inlined)
        self._inlined = inlined
        self._compute: dict[str, Path] = {}
        self._store: dict[str, Path] = {}

    def done(self) -> Placed:
        for func in reversed(self._program.funcs):
            order = self._orders[func.name]
            if func.name in self._inlined:
                _refuse_loops(order)
                continue
            uses = [self._path(one.stage) for one in self._users(func.name)]
            if not uses and func.name not in self._program.outputs:
                continue
            self._compute[func.name] = self._computed(order, uses)
            self._store[func.name] = self._stored(order, uses)
        compute, store = dict(reversed(self._compute.items())), self._store
        return Placed(self._program, self._orders, compute, store, self._reading)

    def _users(self, name: str) -> Iterator[StageLoops]:
        for other in self._compute:
            for stage in self._orders[other].stages:
                if name in self._reading.of(stage.stage):
                    yield stage

    def _path(self, stage: Stage) -> Path:
        loops = self._orders[stage.func].stages[stage.number].loops
        own = tuple(LoopKey(stage.func, stage.number, name) for name in loops)
        return (*self._compute[stage.func], *own)

    def _computed(self, order: FuncOrder, uses: Sequence[Path]) -> Path:
        name = order.func.name
        if isinstance(order.compute, At):
            return self._around(name, order.compute, uses, "computed")
        if order.compute == "root" or not uses:
            return ()
        if len(set(uses)) > 1:
            raise Refused(f"{name} reduces and has several readers: it cannot be computed in each")
        return uses[0]

    def _stored(self, order: FuncOrder, uses: Sequence[Path]) -> Path:
        compute, name = self._compute[order.func.name], order.func.name
        if order.store is None:
            return compute
        if order.compute == "inline" and order.func.reduces:
            raise Refused(f"{name} is computed wherever it is read: to be kept it needs a place")
        path = () if order.store == "root" else self._kept(name, order.store, uses)
        if compute[: len(path)] != path:
            raise Refused(f"the memory of {name} lives inside the loop in which it is computed")
        for key in compute[len(path) :]:
            run = self._orders[key.func].stages[key.stage].runs[key.name]
            if run in _RUNS and run != "unrolled":
                raise Refused(
                    f"{name} is kept outside the {run} loop {key.name} and computed inside it: its "
                    "rounds would race"
                )
        return path

    def _kept(self, name: str, where: object, uses: Sequence[Path]) -> Path:
        assert isinstance(where, At), "memory lives at a loop or from first to last"
        return self._around(name, where, uses, "kept")

    def _around(self, name: str, at: At, uses: Sequence[Path], what: str) -> Path:
        """The loops down to one, which has to be around all that reads a Func."""
        heads = [_head(path, at) for path in uses]
        found = next((head for head in heads if head), None)
        if found is None:
            stage = self._orders[at.reader].stages
            if not any(at.loop in one.runs for one in stage):
                raise Refused(f"{name} is {what} at loop {at.loop} of {at.reader}, which is gone")
            raise Refused(f"{name} is {what} in {at.reader}, which does not read it there")
        if any(head != found for head in heads):
            raise Refused(
                f"{name} is {what} in loop {at.loop} of {at.reader}, and read outside of it, too"
            )
        return found


def _refuse_loops(order: FuncOrder) -> None:
    """Say what is asked of a Func in vain that is computed where it is read."""
    where = f"{order.func.name} is computed wherever it is read"
    if order.store is not None:
        raise Refused(f"{where}: to be kept it needs a place to be computed at, too")
    for name, run in order.stages[0].runs.items():
        if run != "serial":
            raise Refused(f"{where}, and has no loop {name} of its own that could be {_RUNS[run]}")


_RUNS = {
    "parallel": "parallel", "vector": "a vector", "unrolled": "unrolled",
    "gpu_block": "blocks of a GPU", "gpu_thread": "threads of a GPU",
}  # fmt: skip


def _head(path: Path, at: At) -> Path:
    """A path down to a loop; empty where it does not go through it."""
    for number, key in enumerate(path):
        if key.func == at.reader and key.name == at.loop:
            return path[: number + 1]
    return ()
