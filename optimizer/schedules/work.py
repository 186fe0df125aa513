"""How much a schedule computes, how much of it more than once, and what may run side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property

from optimizer.schedules.ordering import Run, StageLoops
from optimizer.schedules.placing import LoopKey, Path
from optimizer.schedules.program import Stage, extent_of
from optimizer.schedules.regions import Regions


class Work:
    """Elements and operations of all Funcs, those without loops included.

    Attributes:
        regions: of the nest.
    """

    def __init__(self, regions: Regions) -> None:
        self.regions, self._placed = regions, regions.placed
        self._rounds: dict[Path, float] = {}
        self._operations: dict[tuple[str, int], int] = {}
        self._needed: dict[str, float] = {}

    @property
    def funcs(self) -> Iterator[str]:
        """All Funcs that anything is read of or written to."""
        for func in self._placed.program.funcs:
            if func.name in self._placed.compute or self.is_inlined(func.name):
                yield func.name

    def is_inlined(self, func: str) -> bool:
        """Whether it is computed where it is read."""
        known = func in self._placed.program.by_name and func not in self._placed.compute
        return known and bool(self._readers(func))

    def _readers(self, tensor: str) -> list[StageLoops]:
        reading = self._placed.reading
        return [one for one in self._placed.stages() if tensor in reading.of(one.stage)]

    @cached_property
    def executions(self) -> Mapping[tuple[str, int], float]:
        """How often each stage with loops computes an element."""
        return {
            (one.stage.func, one.stage.number): self.regions.executions(one)
            for one in self._placed.stages()
        }

    def rounds(self, path: Path) -> float:
        """How often the innermost of these loops runs, from first to last."""
        if path not in self._rounds:
            self._rounds[path] = self.regions.total([], path)
        return self._rounds[path]

    def loads(self, tensor: str) -> float:
        """Elements that are read of a tensor; what a reduction gathers in is read, too."""
        found = sum(
            self.executions[one.stage.func, one.stage.number]
            * len(self._placed.reading.of(one.stage)[tensor])
            for one in self._readers(tensor)
        )
        return found + self.executions.get((tensor, 1), 0)

    def computed(self, func: str) -> float:
        """Elements of a Func that are computed; of a reduction, how often one is combined."""
        if self.is_inlined(func):
            return self.loads(func)
        return self.executions[func, len(self._placed.program.by_name[func].stages) - 1]

    def needed(self, func: str) -> float:
        """The same, if nothing were computed twice and nothing in vain."""
        if func not in self._needed:
            self._needed[func] = self._found_needed(func)
        return self._needed[func]

    def _found_needed(self, func: str) -> float:
        program = self._placed.program
        rounds = math.prod(extent_of(axis) for axis in program.by_name[func].stages[-1].reduced)
        if func in program.outputs:
            return rounds * math.prod(program.shape(func))
        box = self.regions.box(func, (), (one.stage for one in self._placed.stages()))
        assert box is not None, "what has loops is read"
        return rounds * math.prod(int(high.item() - low.item()) + 1 for low, high in box)

    def operations(self, stage: Stage) -> int:
        """Of one element of a stage, with all that is computed inside it."""
        found = self._own(stage)
        by_name = self._placed.program.by_name
        for tensor, places in self._placed.reading.of(stage).items():
            if tensor in by_name and self.is_inlined(tensor):
                found += len(places) * self._own(by_name[tensor].stages[0])
        return found

    def _own(self, stage: Stage) -> int:
        key = stage.func, stage.number
        if key not in self._operations:
            self._operations[key] = stage.operations
        return self._operations[key]

    def done(self, path: Path = ()) -> float:
        """Operations in one round of these loops, all rounds being of one length."""
        inside = (one for one in self._placed.stages() if self._is_inside(one.stage, path))
        return self._sum(inside) / self.rounds(path)

    def produced(self, func: str) -> float:
        """Operations to produce a Func once, with what is produced inside."""
        path = self._placed.compute[func]
        inside = (
            one
            for one in self._placed.stages()
            if one.stage.func == func
            or any(key.func == func for key in self._placed.path(one.stage)[len(path) :])
        )
        return self._sum(inside) / self.rounds(path)

    def _sum(self, stages: Iterator[StageLoops]) -> float:
        return sum(
            self.executions[one.stage.func, one.stage.number] * self.operations(one.stage)
            for one in stages
        )

    def _is_inside(self, stage: Stage, path: Path) -> bool:
        return self._placed.path(stage)[: len(path)] == path

    def least(self) -> float:
        """Operations if nothing were computed twice."""
        by_name = self._placed.program.by_name
        return sum(self.needed(name) * self._own(by_name[name].stages[-1]) for name in self.funcs)

    def side_by_side(self, stage: Stage, *runs: Run) -> int:
        """Rounds of the loops around a stage that run so, at a time."""
        keys = (key for key in self._placed.path(stage) if self._placed.run(key) in runs)
        return math.prod(self._usual(key) for key in keys)

    def independent(self, stage: Stage) -> int:
        """Rounds around a stage that need nothing of each other, however they run now.

        Rounds that combine into one element do, and so do those by which a window moves.
        """
        windows = {slide.loop for slides in self.regions.slides.values() for slide in slides}
        orders = self._placed.orders
        keys = (
            key
            for key in self._placed.path(stage)
            if key not in windows and key.name not in orders[key.func].stages[key.stage].reducing
        )
        return math.prod(self._usual(key) for key in keys)

    def _usual(self, key: LoopKey) -> int:
        return self.regions.usual(self.regions.extent(key), self._placed.compute[key.func])
