"""The loops of a schedule as a tree, and as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, ScheduleError
from optimizer.numbers import bytes_text
from optimizer.schedules.legal_regions import regions_of
from optimizer.schedules.ordering import Refused, Run, StageLoops
from optimizer.schedules.placing import LoopKey, Path, Placed, placed
from optimizer.schedules.regions import Regions

Kind = Literal["store", "produce", "loop", "compute"]


@dataclass(frozen=True, slots=True)
class NestNode:
    """One line of a nest: a tree in the order of its text.

    Attributes:
        depth: how many nodes it is in.
        kind: memory of a Func begins, the loops of a Func begin, a loop, what it computes.
        func: whose.
        stage: 0 gives first values, 1 combines.
        loop: its name; empty for other kinds.
        run: of a loop.
        extent: rounds of a loop in the middle of those around; elements computed once.
        most: rounds where they are most.
        tail: what ends a loop that a split's factor does not divide; empty where it does.
        reduces: whether the loop's rounds combine into the same elements.
        shape: of the memory, of what is produced in a round; the outermost axis first.
        bytes: of the memory.
    """

    depth: int
    kind: Kind
    func: str
    stage: int = 0
    loop: str = ""
    run: Run = "serial"
    extent: int = 1
    most: int = 1
    tail: str = ""
    reduces: bool = False
    shape: tuple[int, ...] = ()
    bytes: int = 0


@dataclass(frozen=True)
class Nest:
    """A tree of loops, and what it was found from."""

    nodes: tuple[NestNode, ...]
    regions: Regions


def nest_of(algorithm: Algorithm, primitives: Sequence[Primitive]) -> Nest:
    """The nest after these primitives.

    Raises:
        ScheduleError: a primitive cannot be applied; or all of them can, but leave a Func where it
            cannot be computed: then none is named.
    """
    found = placed(algorithm, primitives)
    try:
        regions = regions_of(found)
    except Refused as refused:
        raise ScheduleError(None, str(refused)) from refused
    return Nest(tuple(_Walk(found, regions).inside((), 0)), regions)


def on_gpu(nest: Nest) -> bool:
    """Whether some of its loops run on a GPU."""
    return any(node.run in ("gpu_block", "gpu_thread") for node in nest.nodes)


class _Walk:
    """The nodes of a tree, from the outside in."""

    def __init__(self, found: Placed, regions: Regions) -> None:
        self._placed, self._regions = found, regions

    def inside(self, path: Path, depth: int) -> Iterator[NestNode]:
        """What is produced in one round of these loops, each after what it reads."""
        for name, at in self._placed.compute.items():
            if self._placed.store[name] == path and at != path:
                yield self._memory("store", name, depth)
        for name, at in self._placed.compute.items():
            if at != path:
                continue
            yield self._memory("produce", name, depth)
            for stage in self._placed.orders[name].stages:
                yield from self._loops(stage, 0, path, depth + 1)

    def _loops(self, stage: StageLoops, at: int, path: Path, depth: int) -> Iterator[NestNode]:
        """The loops of a stage from one on, and what is in them."""
        func, number = stage.stage.func, stage.stage.number
        if at == len(stage.loops):
            yield NestNode(depth, "compute", func, number)
            return
        key = LoopKey(func, number, stage.loops[at])
        yield self._loop(stage, key, depth)
        yield from self.inside((*path, key), depth + 1)
        yield from self._loops(stage, at + 1, (*path, key), depth + 1)

    def _loop(self, stage: StageLoops, key: LoopKey, depth: int) -> NestNode:
        extent, around = self._regions.extent(key), self._placed.compute[key.func]
        return NestNode(
            depth, "loop", key.func, key.stage, key.name, stage.runs[key.name],
            extent=self._regions.usual(extent, around), most=int(extent.max(initial=0)),
            tail=self._tail(key), reduces=key.name in stage.reducing,
        )  # fmt: skip

    def _tail(self, key: LoopKey) -> str:
        for split, old in self._regions.rounds[key.func, key.stage].splits():
            if split.inner == key.name and np.any(old % split.factor):
                return split.tail
        return ""

    def _memory(self, kind: Kind, name: str, depth: int) -> NestNode:
        shape = self._regions.held(name)
        size = math.prod(shape) * self._placed.program.element_bytes(name)
        return NestNode(depth, kind, name, shape=shape, bytes=size)


def nest_text(nodes: Sequence[NestNode]) -> str:
    """The nest as people read it."""
    return "\n".join(f"{'  ' * node.depth}{_line(node)}" for node in nodes)


_WORDS = {
    "serial": "for", "parallel": "parallel", "vector": "vector", "unrolled": "unrolled",
    "gpu_block": "GPU block", "gpu_thread": "GPU thread",
}  # fmt: skip


def _line(node: NestNode) -> str:
    if node.kind == "compute":
        return f"{node.func}(...) {'+' if node.stage else ''}= ..."
    if node.kind == "loop":
        most = f" (at most {node.most})" if node.most != node.extent else ""
        tail = f", {node.tail}" if node.tail else ""
        return f"{_WORDS[node.run]} {node.loop} in {node.extent}{most}{tail}"
    shape = "×".join(map(str, node.shape)) or "1"
    return f"{node.kind} {node.func} [{shape}, {bytes_text(node.bytes)}]"
