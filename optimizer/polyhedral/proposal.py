"""A schedule of isl's own, as our primitives.

Stages that isl runs in common loops are computed in a tile of the last of them. Where isl would
shift one stage against another, so that a value is there when it is needed, loops of ours cannot
follow: a tile computes what it needs of its neighbours once more (overlapped tiles), and the loops
over tiles stay parallel.

Source: Bondhugula et al. 2008, Pluto; Krishnamoorthy et al. 2007, overlapped tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import ComputeAt, ComputeInline, ComputeRoot, Primitive, Schedule
from optimizer.polyhedral.bands import Band, Found, bands_of
from optimizer.polyhedral.bounds import counted
from optimizer.polyhedral.tiles import Tiling, tiled_output, tiled_sum, vector_rows
from optimizer.schedules.program import LoopFunc, Program


def proposed(algorithm: Algorithm, lanes: int = 8, *, keep_parallel: bool = False) -> Schedule:
    """The schedule that isl finds, tiled and with vectors.

    Args:
        algorithm: of sizes that are numbers.
        lanes: of a vector.
        keep_parallel: whether stages share loops only where isl can leave those parallel.

    Raises:
        ScheduleError: sizes are no numbers.
        NotFollowed: the algorithm is not affine, or isl needs too long.
    """
    with counted():
        found = bands_of(algorithm, keep_parallel=keep_parallel)
        return Schedule(tuple(_Import(found, lanes).primitives()))


@dataclass(frozen=True, slots=True)
class _Group:
    """Funcs that are computed together.

    Attributes:
        anchor: the last of them, which reads the others.
        members: those others.
        band: their common loops.
    """

    anchor: LoopFunc
    members: tuple[LoopFunc, ...]
    band: Band


class _Import:
    def __init__(self, found: Found, lanes: int) -> None:
        self._found, self._lanes = found, lanes
        self._program: Program = found.nest.ordered.program
        self._inline = frozenset(self._inlined())

    def primitives(self) -> Iterator[Primitive]:
        """All of them, those that read others before those."""
        for name in self._inline:
            yield ComputeInline(name)
        for band in reversed(self._found.bands):
            for group in self._groups(band):
                yield from self._ordered(group)

    def _readers(self, name: str) -> set[str]:
        return {one.stage.func for one in self._found.nest.stages if name in one.reads}

    def _inlined(self) -> Iterator[str]:
        """Funcs of which each element is read once, in the round in which isl computes it."""
        for func in self._program.funcs:
            readers = [one for one in self._found.nest.stages if func.name in one.reads]
            once = len(readers) == 1 and bool(readers[0].reads[func.name].is_bijective())
            if once and not func.reduces and func.name not in self._program.outputs:
                yield func.name

    def _groups(self, band: Band) -> Iterator[_Group]:
        """The Funcs of a band, parted where one is read by others than the last: that is kept."""
        names = {name.rstrip("'") for name in band.stages} - self._inline
        left = [func for func in self._program.funcs if func.name in names]
        while left:
            anchor = left.pop()
            inside, members = {anchor.name}, list[LoopFunc]()
            for func in reversed(left):
                if func.name not in self._program.outputs and self._ends(func.name) <= inside:
                    inside.add(func.name)
                    members.append(func)
            left = [func for func in left if func.name not in inside]
            yield _Group(anchor, tuple(members), band)

    def _ends(self, name: str) -> set[str]:
        """Who reads a Func, through those that are computed where they are read."""
        found: set[str] = set()
        for reader in self._readers(name):
            found |= self._ends(reader) if reader in self._inline else {reader}
        return found

    def _ordered(self, group: _Group) -> Iterator[Primitive]:
        anchor, lanes = group.anchor, self._lanes
        if anchor.name not in self._program.outputs:
            yield ComputeRoot(anchor.name)
        if anchor.reduces:
            # What it reads is not computed in its tiles: a sum would compute that for each part.
            yield from vector_rows(anchor, lanes, parallel=True)
            yield from tiled_sum(anchor, anchor.shape, lanes, parallel=True)
            for func in group.members:
                yield from self._ordered(_Group(func, (), group.band))
            return
        kept = len(group.members)
        tiling = Tiling.of(anchor, _axes(group.band, anchor), kept=kept, lanes=lanes)
        yield from tiled_output(anchor, tiling, lanes)
        for func in group.members:
            yield ComputeAt(func.name, anchor.name, tiling.loop)
            tile = self._tile(func, group, tiling)
            yield from vector_rows(func, lanes, tile=tile[-1] if tile else 0)
            if func.reduces:
                yield from tiled_sum(func, tile, lanes)

    def _tile(self, func: LoopFunc, group: _Group, tiling: Tiling) -> Sequence[int]:
        """How far a Func's axes run in a tile, about: as those of the anchor that isl pairs."""
        pairs = _pairs(group.band, group.anchor.name, _last(group.band, func.name))
        sizes = dict(tiling.sizes)
        return [
            min(size, sizes.get(pairs.get(axis.name, ""), size))
            for axis, size in zip(func.axes, func.shape, strict=True)
        ]


def _last(band: Band, func: str) -> str:
    """The last stage of a Func in a band."""
    return next(name for name in reversed(band.stages) if name.rstrip("'") == func)


def _axes(band: Band, anchor: LoopFunc) -> frozenset[str]:
    """The axes of a Func that the band's loops follow, if it may be tiled."""
    if not band.permutable:
        return frozenset()
    name = _last(band, anchor.name)
    return frozenset(one.axes[name][0] for one in band.members if name in one.axes)


def _pairs(band: Band, anchor: str, stage: str) -> Mapping[str, str]:
    """Which axis of the anchor runs with each axis of a stage."""
    end = _last(band, anchor)
    return {
        one.axes[stage][0]: one.axes[end][0]
        for one in band.members
        if stage in one.axes and end in one.axes
    }
