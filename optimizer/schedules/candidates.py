"""What could be done next to each Func and loop of a schedule, legal or not: one step at a time.

A step is one primitive, or the few that people say in one breath: to split a loop and run the inner
one as a vector, to tile two loops. Which of them can be applied is for the nest to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from optimizer.loops.schedule import (
    Atomic,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    Parallel,
    Primitive,
    Reorder,
    RFactor,
    Split,
    StoreAt,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.nest import Nest
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.placing import LoopKey
from optimizer.schedules.work import Work

Kind = Literal["vectorize", "tile", "order", "parallel", "unroll", "place", "reduce", "split"]
"""What a step is about."""

FACTORS = (8, 32)
"""Of a split alone."""
TILES = ((32, 32), (8, 64))
"""Rows and columns."""
UNROLLED = (2, 4, 8)
_MOST_WRITTEN_OUT = 16
_MOST_LANES = 64
_NEAR = 3
"""Loops from the innermost on that are written out, and from the outermost on that run in
parallel: others seldom should."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One step.

    Attributes:
        func: whose loops it changes.
        loop: which; empty where it is about all of a Func.
        text: what is done, in a few words.
        primitives: to be added at the end.
    """

    kind: Kind
    func: str
    loop: str
    text: str
    primitives: tuple[Primitive, ...]


def candidates(nest: Nest, lanes: int = 16) -> Iterator[Candidate]:
    """Steps from a nest on, those of the Funcs with most operations first.

    Args:
        nest: of the schedule so far.
        lanes: of float32 in one instruction.
    """
    placed, work = nest.regions.placed, Work(nest.regions)
    stages = sorted(
        placed.stages(),
        key=lambda one: (
            -work.executions[one.stage.func, one.stage.number] * work.operations(one.stage)
        ),
    )
    for one in stages:
        yield from _of_stage(nest, one, lanes)
    for func in reversed(placed.program.funcs):
        is_own = func.name in placed.program.algorithm.by_name
        if is_own and func.name not in placed.program.outputs:
            yield from _places(nest, func.name)
    for one in stages:
        yield from _of_reduction(nest, one, lanes)


def _of_stage(nest: Nest, one: StageLoops, lanes: int) -> Iterator[Candidate]:
    here = [loop for loop in one.loops if _extent(nest, one, loop) > 1]
    open_loops = [loop for loop in here if one.runs[loop] in ("serial", "parallel")]
    if "vector" not in one.runs.values():
        for loop in reversed(open_loops):
            yield from _vectors(one, loop, _extent(nest, one, loop), lanes)
    yield from _tiles(nest, one, open_loops)
    yield from _orders(one, here)
    serial = [loop for loop in open_loops if one.runs[loop] == "serial"]
    if "parallel" not in one.runs.values():
        for loop in serial[:_NEAR]:
            step = Parallel(one.stage.func, loop, one.stage.number)
            yield Candidate("parallel", step.func, loop, f"run {loop} in parallel", (step,))
    for loop in serial[-_NEAR:]:
        yield from _unrolled(one, loop, _extent(nest, one, loop))
    yield from _splits(nest, one, open_loops)
    yield from _fusions(one, serial)


def _splits(nest: Nest, one: StageLoops, loops: list[str]) -> Iterator[Candidate]:
    for loop in loops:
        for factor in FACTORS:
            if factor < _extent(nest, one, loop):
                made = _split(one, loop, factor)
                text = f"split {loop} by {factor}"
                yield Candidate("split", one.stage.func, loop, text, (made,))


def _fusions(one: StageLoops, serial: list[str]) -> Iterator[Candidate]:
    func = one.stage.func
    for outer, inner in pairwise(one.loops):
        if outer in serial and inner in serial:
            fused = _fresh(one, f"{outer}{inner}")
            step = Fuse(func, outer, inner, fused, one.stage.number)
            yield Candidate("order", func, outer, f"fuse {outer} and {inner}", (step,))


def _vectors(one: StageLoops, loop: str, extent: int, lanes: int) -> Iterator[Candidate]:
    func, nest = one.stage.func, one.stage.number
    if extent <= _MOST_LANES:
        step = Vectorize(func, loop, nest)
        yield Candidate("vectorize", func, loop, f"vectorize {loop}", (step,))
    for width in (lanes, lanes // 2):
        if width < extent and width > 1:
            made = _split(one, loop, width)
            vector = Vectorize(func, made.inner, nest)
            text = f"vectorize {loop} by {width}"
            yield Candidate("vectorize", func, loop, text, (made, vector))
            if one.loops[-1] != loop:
                order = Reorder(func, (*_without(one, loop), made.outer, made.inner), nest)
                text = f"move {loop} innermost and vectorize it by {width}"
                yield Candidate("vectorize", func, loop, text, (made, order, vector))


def _unrolled(one: StageLoops, loop: str, extent: int) -> Iterator[Candidate]:
    func, nest = one.stage.func, one.stage.number
    if extent <= _MOST_WRITTEN_OUT:
        step = Unroll(func, loop, nest)
        yield Candidate("unroll", func, loop, f"unroll {loop}", (step,))
    for factor in UNROLLED:
        if factor < extent:
            made = _split(one, loop, factor)
            steps = made, Unroll(func, made.inner, nest)
            yield Candidate("unroll", func, loop, f"unroll {loop} by {factor}", steps)


def _tiles(nest: Nest, one: StageLoops, loops: list[str]) -> Iterator[Candidate]:
    """Two loops next to each other that do not combine, as four."""
    func, number = one.stage.func, one.stage.number
    free = [loop for loop in loops if loop not in one.reducing]
    for first, second in pairwise(free):
        for rows, columns in TILES:
            if _extent(nest, one, first) <= rows or _extent(nest, one, second) <= columns:
                continue
            a, b = _split(one, first, rows), _split(one, second, columns)
            names = (a.outer, b.outer, a.inner, b.inner)
            if len(set(names)) == len(names):
                text = f"tile {first} and {second} by {rows}×{columns}"
                steps = a, b, Reorder(func, names, number)
                yield Candidate("tile", func, first, text, steps)


def _orders(one: StageLoops, loops: list[str]) -> Iterator[Candidate]:
    func, nest = one.stage.func, one.stage.number
    for outer, inner in pairwise(loops):
        text = f"interchange {outer} and {inner}"
        yield Candidate("order", func, outer, text, (Reorder(func, (inner, outer), nest),))
    for at, loop in enumerate(loops[:-2]):
        moved = (*loops[:at], *loops[at + 1 :], loop)
        yield Candidate("order", func, loop, f"{loop} innermost", (Reorder(func, moved, nest),))
    for at, loop in enumerate(loops[2:], 2):
        moved = (loop, *loops[:at], *loops[at + 1 :])
        yield Candidate("order", func, loop, f"{loop} outermost", (Reorder(func, moved, nest),))


def _places(nest: Nest, func: str) -> Iterator[Candidate]:
    """Where else it could be computed, and its memory live."""
    placed = nest.regions.placed
    at, stores = placed.compute.get(func), placed.store.get(func)
    if at != ():
        yield Candidate("place", func, "", f"compute {func} at root", (ComputeRoot(func),))
    if at is not None:
        step = ComputeInline(func)
        yield Candidate("place", func, "", f"compute {func} where it is read", (step,))
    for key in dict.fromkeys(_around(nest, func)):
        if at is None or not at or at[-1] != key:
            step = ComputeAt(func, key.func, key.name)
            text = f"compute {func} at {key.name} of {key.func}"
            yield Candidate("place", func, key.name, text, (step,))
    if at and stores:
        text = f"keep {func} from first to last"
        yield Candidate("place", func, "", text, (StoreRoot(func),))
    for key in (at or ())[:-1]:
        if not stores or stores[-1] != key:
            step = StoreAt(func, key.func, key.name)
            text = f"keep {func} for a round of {key.name} of {key.func}"
            yield Candidate("place", func, key.name, text, (step,))


def _around(nest: Nest, func: str) -> Iterator[LoopKey]:
    """Loops around what reads it, if through others that are computed where they are read."""
    placed = nest.regions.placed
    for one in placed.stages():
        if func in placed.reading.of(one.stage):
            for key in placed.path(one.stage):
                around = placed.compute[key.func]
                if nest.regions.usual(nest.regions.extent(key), around) > 1:
                    yield key


def _of_reduction(nest: Nest, one: StageLoops, lanes: int) -> Iterator[Candidate]:
    """Sums side by side."""
    func, program = one.stage.func, nest.regions.placed.program
    if not one.stage.number or func not in program.algorithm.by_name:
        return
    if program.by_name[func].is_exact:
        yield Candidate(
            "reduce", func, "", f"let rounds of {func} combine at once", (Atomic(func),)
        )
    for axis in one.stage.reduced:
        if axis.name not in one.loops or _extent(nest, one, axis.name) <= lanes:
            continue
        split = _split(one, axis.name, lanes)
        made, lane = f"{func}_lanes", f"{axis.name}_lane"
        if made in program.by_name:
            continue
        others = tuple(other.name for other in one.stage.reduced if other.name != axis.name)
        steps = (
            split,
            RFactor(func, split.inner, made, lane),
            ComputeAt(made, func, one.stage.axes[-1].name),
            Reorder(made, (*others, split.outer, lane), 1),
            Vectorize(made, lane),
            Vectorize(made, lane, 1),
        )
        text = f"{lanes} sums of {func} side by side along {axis.name}"
        yield Candidate("reduce", func, axis.name, text, steps)


def _extent(nest: Nest, one: StageLoops, loop: str) -> int:
    key = LoopKey(one.stage.func, one.stage.number, loop)
    around = nest.regions.placed.compute[key.func]
    return nest.regions.usual(nest.regions.extent(key), around)


def _split(one: StageLoops, loop: str, factor: int) -> Split:
    outer, inner = _fresh(one, f"{loop}o"), _fresh(one, f"{loop}i")
    return Split(one.stage.func, loop, outer, inner, factor, nest=one.stage.number)


def _fresh(one: StageLoops, name: str) -> str:
    """The name, or the first with a number that no loop has or had."""
    taken, found, number = {*one.runs, *one.gone}, name, 1
    while found in taken:
        number += 1
        found = f"{name}{number}"
    return found


def _without(one: StageLoops, loop: str) -> tuple[str, ...]:
    return tuple(other for other in one.loops if other != loop)
