"""How far apart in memory what a stage reads and writes lies from one round of a loop to the next.

Source: what decides between a vector load, a broadcast and a gather on any processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.loops.scalar import Var, variables_of
from optimizer.loops.schedule import Split
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.places import Place
from optimizer.schedules.regions import Regions


@dataclass(frozen=True, slots=True)
class Access:
    """One place of a tensor that each execution of a stage reads, or writes.

    Attributes:
        step: elements from one round of a loop to the next, by loop; None where that differs from
            round to round.
    """

    tensor: str
    step: Mapping[str, int | None]


def reads_of(regions: Regions, one: StageLoops) -> Iterator[Access]:
    """What a stage reads of tensors that lie in memory."""
    placed = regions.placed
    distances = {loop: _distances(one, loop) for loop in one.loops}
    for tensor, places in placed.reading.of(one.stage).items():
        if tensor not in placed.program.inputs and tensor not in placed.compute:
            continue
        strides = _strides(_memory(regions, tensor))
        for place in places:
            yield Access(
                tensor, {loop: _step(place, strides, distances[loop]) for loop in one.loops}
            )


def write_of(regions: Regions, one: StageLoops) -> Access:
    """What a stage writes."""
    func = one.stage.func
    strides = _strides(_memory(regions, func))
    steps: dict[str, int | None] = {}
    for loop in one.loops:
        distance = _distances(one, loop)
        pairs = zip(one.stage.axes, strides, strict=True)
        steps[loop] = sum(distance[axis.name] * stride for axis, stride in pairs)
    return Access(func, steps)


def _memory(regions: Regions, tensor: str) -> tuple[int, ...]:
    program = regions.placed.program
    if tensor in program.inputs or tensor in program.outputs:
        return program.shape(tensor)
    return regions.held(tensor)


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Of a tensor whose last axis lies side by side; 0 along axes of one place."""
    found: list[int] = []
    size = 1
    for extent in reversed(shape):
        found.append(size if extent > 1 else 0)
        size *= extent
    return tuple(reversed(found))


def _distances(one: StageLoops, loop: str) -> Mapping[str, int]:
    """How far the variables of a stage's axes go in a round of a loop."""
    found = {loop: 1}
    for made in reversed(one.made):
        if isinstance(made, Split):
            found[made.loop] = found.get(made.outer, 0) * made.factor + found.get(made.inner, 0)
        else:
            found[made.inner] = found.get(made.fused, 0)
    axes = (*one.stage.axes, *one.stage.reduced)
    return {axis.name: found.get(axis.name, 0) for axis in axes}


def _step(place: Place, strides: Sequence[int], distance: Mapping[str, int]) -> int | None:
    total = 0
    for index, stride in zip(place, strides, strict=True):
        for atom, factor in index.terms:
            if isinstance(atom, Var):
                total += stride * factor * distance.get(atom.name, 0)
            elif any(distance.get(name, 0) for name in variables_of(atom)):
                return None
    return total
