"""Points of a nest in the order in which they run, ready to be drawn one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import islpy as isl

from optimizer.errors import StudioError
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, Split
from optimizer.polyhedral.affine import joined
from optimizer.polyhedral.bounds import NotFollowed, counted
from optimizer.polyhedral.dependences import dependences_of
from optimizer.polyhedral.instances import Instances, statement
from optimizer.polyhedral.legality import illegal
from optimizer.polyhedral.loops import applicable
from optimizer.polyhedral.nest import PointNest, point_nest
from optimizer.polyhedral.shrinking import shrunk
from optimizer.polyhedral.tails import coordinates, rounds_run, tail_sentences
from optimizer.polyhedral.view import Arrow, Axes, Cell, DrawnStage, PolyhedralView, Tick
from optimizer.schedules.program import extent_of

MOST_STAGES = 3
MOST_POINTS = 3000
MOST_ARROWS = 2500
_Tiles = dict[tuple[int, ...], list[Cell]]


def polyhedral_view(
    algorithm: Algorithm, primitives: Sequence[Primitive], axes: Axes | None = None
) -> PolyhedralView:
    """The points of an algorithm in this order, of a smaller one of the same shape.

    Primitives that name what is not there are left out.

    Args:
        algorithm: of sizes that are numbers.
        primitives: in which order.
        axes: what to draw.

    Raises:
        ScheduleError: a Func is computed where nothing reads it.
        NotFollowed: the nest is not affine, or isl needs too long.
        StudioError: an axis to draw is not there.
    """
    kept, refused = applicable(algorithm, primitives)
    broken = tuple(one.reason for one in illegal(algorithm, kept))
    small, order = shrunk(algorithm, kept)
    with counted():
        nest = point_nest(small, order)
        drawn = _Drawing(nest, axes or {}).view(_note(algorithm, small))
    return replace(drawn, broken=broken, refused=refused)


def _note(algorithm: Algorithm, small: Algorithm) -> str:
    """Which sizes were cut."""
    cut: list[str] = []
    for func, other in zip(algorithm.funcs, small.funcs, strict=True):
        own = [*func.axes, *(func.reduction.axes if func.reduction else ())]
        less = [*other.axes, *(other.reduction.axes if other.reduction else ())]
        cut += [
            f"{axis.name} {extent_of(one)} of {extent_of(axis)}"
            for axis, one in zip(own, less, strict=True)
            if extent_of(one) < extent_of(axis)
        ]
    return ", ".join(dict.fromkeys(cut))


@dataclass(frozen=True)
class _Slice:
    """The part of a stage that is drawn.

    Attributes:
        numbers: of the drawn dimensions of a point.
        cells: from its points to rows and columns.
        held: value of each other axis.
    """

    stage: Instances
    axes: tuple[str, str]
    cells: isl.Map
    held: Mapping[str, int]
    choices: tuple[str, ...]

    @cached_property
    def around(self) -> Sequence[tuple[int, ...]]:
        """Rounds of the loops around in which anything of it runs."""
        domain, depth = self.cells.domain(), self.stage.depth
        rest = domain.dim(isl.dim_type.set) - depth
        return coordinates(domain.project_out(isl.dim_type.set, depth, rest))


@dataclass
class _Drawing:
    _nest: PointNest
    _axes: Axes
    _slices: list[_Slice] = field(default_factory=list[_Slice])

    def view(self, note: str) -> PolyhedralView:
        last = {one.stage.func: one for one in self._nest.stages}
        drawn = list(last.values())[-MOST_STAGES:]
        left = tuple(name for name in last if name not in {one.stage.func for one in drawn})
        self._slices = [_slice(one, self._axes.get(statement(one.stage))) for one in drawn]
        ticks, tiles, past = self._ticks()
        stages = tuple(
            _drawn(one, [cell for tick in ticks if tick.stage == number for cell in tick.cells],
                   tiles[number], past[number])
            for number, one in enumerate(self._slices)
        )  # fmt: skip
        tails = tuple(
            sentence for one in self._slices for sentence in tail_sentences(one.stage, one.around)
        )
        arrows = tuple(self._arrows())
        return PolyhedralView(note, (), (), stages, left, ticks, arrows, tails)

    def _ticks(self) -> tuple[tuple[Tick, ...], list[_Tiles], list[set[Cell]]]:
        """What runs when; the cells of each tile of each stage; those that nobody needs."""
        found: dict[tuple[int, ...], tuple[int, list[Cell]]] = {}
        tiles: list[_Tiles] = []
        past: list[set[Cell]] = []
        for number, one in enumerate(self._slices):
            tiles.append({})
            past.append(set())
            lanes, outer = _lanes(self._nest, one.stage), _tile_loops(one.stage)
            for cell, rounds, beyond in _points(one):
                past[-1] |= {cell} if beyond else set()
                time = [0 if at in lanes else value for at, value in enumerate(rounds)]
                turns = zip(one.stage.turns, [*time, 0], strict=True)
                key = tuple(value for pair in turns for value in pair)
                found.setdefault(key, (number, []))[1].append(cell)
                tiles[-1].setdefault(tuple(rounds[at] for at in outer), []).append(cell)
        ticks = (Tick(stage, tuple(sorted(cells))) for _, (stage, cells) in sorted(found.items()))
        return tuple(ticks), tiles, past

    def _arrows(self) -> Iterator[Arrow]:
        numbers = {statement(one.stage.stage): at for at, one in enumerate(self._slices)}
        count = 0
        for one in dependences_of(self._nest):
            ends = [numbers.get(statement(end.stage)) for end in (one.source, one.target)]
            if ends[0] is None or ends[1] is None:
                continue
            source, target = self._slices[ends[0]], self._slices[ends[1]]
            pairs = one.pairs.intersect_domain(source.cells.domain())
            pairs = pairs.intersect_range(target.cells.domain())
            if one.kind == "sum":
                pairs = pairs.lexmin()
            near = pairs.apply_domain(source.cells).apply_range(target.cells)
            for a, b, c, d in coordinates(near.wrap()):
                count += 1
                if count > MOST_ARROWS:
                    return
                yield Arrow((ends[0], ends[1]), ((a, b), (c, d)))


def _slice(one: Instances, chosen: tuple[str, str] | None) -> _Slice:
    """Two axes of a stage, all others held where they begin."""
    dims = isl.dim_type.set
    ends = {
        name: (
            one.domain.dim_min_val(number).to_python(),
            one.domain.dim_max_val(number).to_python(),
        )
        for number, name in enumerate(one.axes, one.depth)
    }
    long = tuple(name for name, (low, high) in ends.items() if high > low)
    axes = chosen or _default(one, long)
    for name in axes:
        if name and name not in ends:
            raise StudioError(
                f"{statement(one.stage)} has no axis {name}; there are {', '.join(one.axes)}."
            )
    held = {name: low for name, (low, _) in ends.items() if name not in axes}
    domain = one.domain
    for number, name in enumerate(one.axes, one.depth):
        if name in held:
            domain = domain.fix_val(dims, number, isl.Val(held[name]))
    local = isl.LocalSpace.from_space(domain.space)
    values = [
        isl.PwAff.from_aff(
            isl.Aff.var_on_domain(local, dims, one.depth + one.axes.index(name))
            if name
            else isl.Aff.zero_on_domain(local)
        )
        for name in axes
    ]
    return _Slice(one, axes, joined(values, domain.space).intersect_domain(domain), held, long)


def _default(one: Instances, long: Sequence[str]) -> tuple[str, str]:
    """Loops of a sum, which carry its dependences; else the last two axes."""
    carried = [axis.name for axis in one.stage.reduced if axis.name in long]
    own = [name for name in long if name not in carried]
    order = [*own, *carried] if len(carried) < 2 else carried
    down, across = ["", "", *order][-2:]
    return down, across


def _points(one: _Slice) -> Iterator[tuple[Cell, tuple[int, ...], bool]]:
    """Whatever runs: its cell, its rounds, and whether nobody needs it."""
    count = one.cells.domain().count_val().to_python()
    if count > MOST_POINTS:
        raise NotFollowed(
            f"{one.stage.stage.func} has {count:,} points even where each loop is cut to a few "
            f"rounds (limit {MOST_POINTS:,}): choose axes that were split less often."
        )
    down, across = one.axes
    for each in rounds_run(one.stage, one.around, one.held):
        yield (each.places.get(down, 0), each.places.get(across, 0)), each.numbers, each.beyond


def _lanes(nest: PointNest, one: Instances) -> set[int]:
    """Which loops of its path are vectors."""
    return {
        at
        for at, key in enumerate(one.path)
        if nest.ordered.orders[key.func].stages[key.stage].runs[key.name] == "vector"
    }


def _tile_loops(one: Instances) -> list[int]:
    """Which loops of its path stand for tiles: all around it, and its own outer ones of splits."""
    outer = {step.outer for step in one.loops.made if isinstance(step, Split)}
    inner = {step.inner for step in one.loops.made if isinstance(step, Split)}
    runs = one.loops.runs
    lanes = {
        step.outer
        for step in one.loops.made
        if isinstance(step, Split) and runs.get(step.inner) == "vector"
    }
    return [
        at for at, key in enumerate(one.path) if at < one.depth or key.name in outer - inner - lanes
    ]


def _drawn(one: _Slice, cells: Sequence[Cell], tiles: _Tiles, past: Iterable[Cell]) -> DrawnStage:
    held = ", ".join(f"{name} = {value}" for name, value in one.held.items() if name in one.choices)
    boxes = {_around(each): None for each in tiles.values()}
    first, last = _around(cells)
    outlines = tuple(boxes) if len(boxes) > 1 else ()
    return DrawnStage(
        statement(one.stage.stage), one.axes, first, last, held, outlines, one.choices,
        tuple(sorted(past)),
    )  # fmt: skip


def _around(cells: Sequence[Cell]) -> tuple[Cell, Cell]:
    rows, columns = [cell[0] for cell in cells], [cell[1] for cell in cells]
    return (min(rows), min(columns)), (max(rows), max(columns))
