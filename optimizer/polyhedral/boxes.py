"""How much of a Func each round of the loops around it computes: a box, as Halide has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

_UP = "{ [i] -> [o] : o >= i }"
_DOWN = "{ [i] -> [o] : o <= i }"


@dataclass(frozen=True)
class Box:
    """Ends along each axis.

    Attributes:
        rounds: of the loops around, in which anything is computed.
        ends: functions of them: the first and the last place along each axis.
    """

    rounds: isl.Set
    ends: tuple[tuple[isl.PwAff, isl.PwAff], ...]

    @property
    def elements(self) -> isl.Map:
        """From rounds to what is computed in them."""
        nothing = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
        found = isl.Map.from_domain_and_range(self.rounds, nothing)
        for low, high in self.ends:
            above = isl.Map.from_pw_aff(low).apply_range(isl.Map(_UP))
            below = isl.Map.from_pw_aff(high).apply_range(isl.Map(_DOWN))
            found = found.flat_range_product(above.intersect(below))
        return found.coalesce()


def whole_box(extents: Sequence[int]) -> Box:
    """All of a tensor, with no loops around."""
    rounds = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))
    local = isl.LocalSpace.from_space(rounds.get_space())

    def constant(number: int) -> isl.PwAff:
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(local).add_constant_val(isl.Val(number)))

    return Box(rounds, tuple((constant(0), constant(extent - 1)) for extent in extents))


def box_of(needs: Sequence[isl.Map], rank: int) -> Box:
    """Around all that is needed.

    Args:
        needs: from rounds to elements; one or more.
        rank: of an element.
    """
    ends: list[tuple[isl.PwAff, isl.PwAff]] = []
    for axis in range(rank):
        along = [_only(one, axis, rank) for one in needs]
        every = reduce(lambda a, b: a.union(b), along).coalesce()
        ends.append((every.dim_min(0), every.dim_max(0)))
    rounds = reduce(lambda a, b: a.union(b), [one.domain() for one in needs])
    return Box(rounds.coalesce(), tuple(ends))


def _only(needed: isl.Map, axis: int, rank: int) -> isl.Map:
    """Places along one axis alone."""
    out = isl.dim_type.out
    return needed.project_out(out, axis + 1, rank - axis - 1).project_out(out, 0, axis).coalesce()


def new_in(box: Box, stored: int) -> Box:
    """What of a box no earlier round has computed while its memory lives.

    Args:
        box: of all that is needed.
        stored: how many of the loops around are around its memory, too.
    """
    elements = box.elements
    depth = box.rounds.dim(isl.dim_type.set)
    later = depth - stored
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, stored)
    same = isl.Map.identity(isl.Space.map_from_set(space))
    earlier = isl.Map.lex_gt(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, later))
    before = same.flat_product(earlier).intersect_domain(box.rounds)
    known = before.intersect_range(box.rounds).apply_range(elements)
    return box_of([elements.subtract(known)], len(box.ends))
