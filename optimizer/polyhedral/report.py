"""A nest as isl has it, as text: points, accesses, dependences, the order, and what it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive
from optimizer.polyhedral.bounds import counted
from optimizer.polyhedral.dependences import Dependence, dependences_of
from optimizer.polyhedral.instances import Instances
from optimizer.polyhedral.legality import violations
from optimizer.polyhedral.nest import point_nest
from optimizer.polyhedral.picture import polyhedral_view
from optimizer.polyhedral.view import DrawnStage, PolyhedralView

_WORDS = {"flow": "is read by", "first": "begins", "sum": "goes on in"}
_WIDEST = 16


def polyhedral_text(algorithm: Algorithm, primitives: Sequence[Primitive]) -> str:
    """All of it, for people who read isl's notation.

    Raises:
        ScheduleError: a primitive names what is not there.
        NotFollowed: the nest is not affine, or isl needs too long.
    """
    view = polyhedral_view(algorithm, primitives)
    with counted():
        nest = point_nest(algorithm, primitives)
        lines = ["domains"]
        for one in nest.stages:
            lines += _accesses(one)
        lines += ["", "dependences", *map(_dependence, dependences_of(nest)), "", "order"]
        lines += [f"  {one.time(nest.depth).to_str()}" for one in nest.stages]
        broken = [one.reason for one in violations(nest)]
    lines += ["", *(f"Illegal: {reason}." for reason in broken)]
    if not broken:
        lines.append("Legal: every dependence runs forward, and none between rounds side by side.")
    return "\n".join([*lines, *_grids(view)])


def _accesses(one: Instances) -> Iterator[str]:
    yield f"  {one.domain.to_str()}"
    out = isl.dim_type.out
    for tensor, read in one.reads.items():
        named = read.set_tuple_name(out, tensor).gist_domain(one.domain)
        yield f"    reads {named.coalesce().to_str()}"
    for tensor in one.anywhere:
        yield f"    reads {tensor} at places that are not affine"
    written = one.writes.set_tuple_name(out, one.stage.func).gist_domain(one.domain)
    yield f"    writes {written.to_str()}"


def _dependence(one: Dependence) -> str:
    exact = " (any order gives the same)" if one.is_exact else ""
    pairs = one.pairs.coalesce().to_str()
    return f"  {one.source.stage.func} {_WORDS[one.kind]} {one.target.stage.func}{exact}: {pairs}"


def _grids(view: PolyhedralView) -> Iterator[str]:
    """When each point runs first, as a table for each stage that is drawn."""
    if view.note:
        yield ""
        yield f"Order of the points, in a smaller nest of the same shape ({view.note}):"
    yield from (f"Tails: {sentence}." for sentence in view.tails)
    for number, stage in enumerate(view.stages):
        first: dict[tuple[int, int], int] = {}
        for count, tick in enumerate(view.ticks):
            for cell in tick.cells if tick.stage == number else ():
                first.setdefault(cell, count)
        yield ""
        held = f", {stage.held}" if stage.held else ""
        yield f"{stage.name}: {stage.axes[0] or '-'} down, {stage.axes[1] or '-'} across{held}"
        yield from _rows(stage, first)


def _rows(stage: DrawnStage, first: dict[tuple[int, int], int]) -> Iterator[str]:
    width = len(str(max(first.values())))
    right = min(stage.last[1], stage.first[1] + _WIDEST - 1)
    for row in range(stage.first[0], stage.last[0] + 1):
        places = (first.get((row, column)) for column in range(stage.first[1], right + 1))
        yield "  " + " ".join(("·" if one is None else str(one)).rjust(width) for one in places)
