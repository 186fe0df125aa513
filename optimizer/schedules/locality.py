"""What has to be kept between producing and reading, and what is moved because it cannot be.

A cache of a size is taken to hold what one round of a loop touches, if that fits: then all rounds
of the loop move each cache line once. Where it does not fit, what is inside moves again each round.
Caches hold whatever fits, wherever it lies: lines that displace each other because of their
addresses are not seen.

Source: the footprints of Wolf and Lam 1991, "A Data Locality Optimizing Algorithm".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from optimizer.schedules.boxes import Box
from optimizer.schedules.intervals import Array
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.placing import LoopKey, Path
from optimizer.schedules.regions import Regions
from optimizer.schedules.work import Work

LINE_BYTES = 64
"""Of a cache line."""


class Locality:
    """Working sets and traffic of a nest.

    Args:
        regions: of the nest.
        work: the same nest's.

    Attributes:
        work: the same.
    """

    def __init__(self, regions: Regions, work: Work) -> None:
        self._regions, self._placed, self.work = regions, regions.placed, work
        self._touched: dict[tuple[Path, Path], tuple[int, int]] = {}
        self._moved: dict[int, float] = {}

    @classmethod
    def of(cls, regions: Regions) -> Locality:
        """Those of a nest."""
        return cls(regions, Work(regions))

    def working_set(self, func: str) -> int:
        """Bytes of a Func that are held from where it is produced to where it is read last.

        Those of a Func without loops are in registers: 0.
        """
        if func not in self._placed.compute:
            return 0
        return math.prod(self._regions.held(func)) * self._placed.program.element_bytes(func)

    def reuse_distance(self, func: str) -> float:
        """Operations between producing an element and reading it, at most."""
        if func not in self._placed.compute:
            readers = [one.stage for one in self._placed.stages()]
            reading = [self._placed.reading.of(stage).get(func, {}) for stage in readers]
            places = max(map(len, reading), default=0)
            return places * self._placed.program.by_name[func].stages[0].operations
        slides = self._regions.slides[func]
        if not slides:
            return self.work.produced(func)
        path = self._placed.compute[func]
        return self.work.done(path[: max(path.index(slide.loop) for slide in slides) + 1])

    def footprint(self) -> int:
        """Bytes that are touched from first to last."""
        return self._touch((), ())[0]

    def moved(self, cache_bytes: int) -> float:
        """Bytes that cross between a cache of this size and what is behind it."""
        if cache_bytes not in self._moved:
            self._moved[cache_bytes] = self._of_round((), cache_bytes)
        return self._moved[cache_bytes]

    def _of_round(self, path: Path, cache: int) -> float:
        held, crossing = self._touch(path, path)
        if held < cache:
            return crossing
        found = 0.0
        for stage, at in self._items(path):
            found += self._of_loop(stage, at, path, cache)
        return found

    def _of_loop(self, stage: StageLoops, at: int, path: Path, cache: int) -> float:
        func, number = stage.stage.func, stage.stage.number
        if at == len(stage.loops):
            return self._touch(path, path)[1]
        inner = (*path, LoopKey(func, number, stage.loops[at]))
        if self._touch(inner, inner)[0] < cache:
            return self._touch(path, inner)[1]
        return self._of_round(inner, cache) * self.work.rounds(inner) / self.work.rounds(path)

    def _items(self, path: Path) -> Iterator[tuple[StageLoops, int]]:
        """The nests in one round of a path: of what is produced there, and the rest of its own."""
        for name, at in self._placed.compute.items():
            if at == path:
                yield from ((stage, 0) for stage in self._placed.orders[name].stages)
        if path:
            key = path[-1]
            own = len(path) - len(self._placed.compute[key.func])
            yield self._placed.orders[key.func].stages[key.stage], own

    def _touch(self, path: Path, within: Path) -> tuple[int, int]:
        """Bytes touched in one round of a path by what is within another, and those from outside.

        Memory that begins and ends inside is touched, but nothing of it has to come or go.
        """
        if (path, within) in self._touched:
            return self._touched[path, within]
        stages = [
            one for one in self._placed.stages()
            if self._placed.path(one.stage)[: len(within)] == within
        ]  # fmt: skip
        held = crossing = 0
        for tensor in self._tensors(stages):
            store = self._placed.store.get(tensor)
            inside = store is not None and store[: len(within)] == within
            if inside and tensor not in self._placed.program.outputs:
                held += self.working_set(tensor)
                continue
            size = self._bytes(tensor, path, stages)
            held, crossing = held + size, crossing + size
            if all(one.stage.number for one in stages if one.stage.func == tensor):
                # What is gathered comes in before it goes out.
                crossing += size if tensor in {one.stage.func for one in stages} else 0
        self._touched[path, within] = held, crossing
        return held, crossing

    def _tensors(self, stages: Sequence[StageLoops]) -> Iterable[str]:
        program, found = self._placed.program, dict[str, None]()
        for one in stages:
            found[one.stage.func] = None
            reads = self._placed.reading.of(one.stage)
            found |= {name: None for name in reads if not self.work.is_inlined(name)}
        return [name for name in found if name in program.inputs or name in self._placed.compute]

    def _bytes(self, tensor: str, path: Path, stages: Sequence[StageLoops]) -> int:
        size, shape = self._placed.program.element_bytes(tensor), self._placed.program.shape(tensor)
        read = self._regions.box(tensor, path, (one.stage for one in stages))
        found = 0 if read is None else self._lines(read, path, shape, size)
        apart = self._regions.boxes_apart(tensor, path, (one.stage for one in stages))
        if apart:
            # Rows and columns of one tensor are far less than the box around both.
            found = min(found, sum(self._lines(box, path, shape, size) for box in apart))
        written = (self._regions.written(one, path) for one in stages if one.stage.func == tensor)
        found = max([found, *(self._lines(box, path, shape, size) for box in written)])
        # A window is a ring: its memory is used again and again.
        return min(found, self.working_set(tensor)) if self._regions.slides.get(tensor) else found

    def _lines(self, box: Box, path: Path, shape: Sequence[int], size: int) -> int:
        """Bytes of the cache lines that a box lies in."""
        extents = [self._regions.usual(_extent(ends), path) for ends in box]
        run, axis = size, len(extents)
        while axis:
            axis -= 1
            run *= extents[axis]
            if extents[axis] < shape[axis]:
                break
        lines = -(-run // LINE_BYTES) * LINE_BYTES
        return math.prod(extents[:axis]) * lines


def _extent(ends: tuple[Array, Array]) -> Array:
    return np.asarray(ends[1] - ends[0] + 1)
