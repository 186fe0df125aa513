"""What each stage runs, as points: the rounds of loops of others around it, then its own axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from optimizer.loops.schedule import Split
from optimizer.polyhedral.affine import Values, joined, plus, times, value
from optimizer.polyhedral.bounds import NotFollowed
from optimizer.polyhedral.boxes import Box
from optimizer.schedules.ordering import StageLoops
from optimizer.schedules.places import Places
from optimizer.schedules.placing import Path
from optimizer.schedules.program import Stage, extent_of


@dataclass(frozen=True)
class Surroundings:
    """Where a Func is computed.

    Attributes:
        path: the loops around.
        stored: how many of those are around its memory, too.
        turns: at each depth, whose turn it is.
        own: which turn is its own.
    """

    path: Path
    stored: int
    turns: tuple[int, ...]
    own: int


@dataclass(frozen=True)
class Instances:
    """The points of one stage.

    Attributes:
        loops: its own, in their order.
        path: all loops, those around and then its own.
        around: where it is computed.
        domain: its points: rounds of the loops around, then its axes.
        rounds: at every point, the round of each loop of the path.
        writes: which element a point gives or combines into.
        reads: which elements of other tensors it reads.
        anywhere: inputs that it reads at places that are not affine.
        box: what is computed in each round of the loops around.
    """

    loops: StageLoops
    path: Path
    around: Surroundings
    domain: isl.Set
    rounds: tuple[isl.PwAff, ...]
    writes: isl.Map
    reads: Mapping[str, isl.Map]
    anywhere: tuple[str, ...]
    box: Box

    @property
    def stage(self) -> Stage:
        """Whose points they are."""
        return self.loops.stage

    @property
    def depth(self) -> int:
        """How many loops of others are around."""
        return len(self.around.path)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of what follows the rounds of loops around."""
        return tuple(one.name for one in (*self.stage.axes, *self.stage.reduced))

    @property
    def turns(self) -> tuple[int, ...]:
        """At each depth of its path, whose turn it is; one more than loops."""
        rest = len(self.path) + 1 - self.depth
        return (*self.around.turns, *([self.around.own + self.stage.number] * rest))

    def leading(self, count: int) -> isl.Map:
        """The rounds of the first loops of its path."""
        space = self.domain.get_space()
        return joined(self.rounds[:count], space).intersect_domain(self.domain)

    def time(self, depth: int) -> isl.Map:
        """When each point runs: rounds of loops, and between them whose turn it is.

        Args:
            depth: of the deepest path; shorter times are filled up.
        """
        zero = zero_over(self.domain)
        values: list[isl.PwAff] = []
        for turn, one in zip(self.turns, self.rounds, strict=False):
            values += [plus(zero, turn), one]
        values.append(plus(zero, self.turns[-1]))
        values += [zero] * (2 * depth + 1 - len(values))
        return joined(values, self.domain.get_space()).intersect_domain(self.domain)


def statement(stage: Stage) -> str:
    """How isl calls a stage: what combines has a prime."""
    return stage.func + "'" * stage.number


def zero_over(domain: isl.Set) -> isl.PwAff:
    """The constant function over the points of a set."""
    return isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(domain.space)))


def instances_of(
    loops: StageLoops, own: Path, around: Surroundings, *, read: Places, box: Box
) -> Instances:
    """The points of a stage.

    Args:
        loops: as they are ordered.
        own: their keys.
        around: where its Func is computed.
        read: what an element reads, in its axes.
        box: what is computed in each round of the loops around.

    Raises:
        NotFollowed: a place that is read of a Func is not affine.
    """
    domain = _domain(loops.stage, box)
    depth, rank = len(around.path), len(loops.stage.axes)
    names = [axis.name for axis in (*loops.stage.axes, *loops.stage.reduced)]
    local = isl.LocalSpace.from_space(domain.space)
    points = [
        isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, number))
        for number in range(depth + len(names))
    ]
    values = dict(zip(names, points[depth:], strict=True))
    found = _loop_values(loops, _from_corner(values, box, domain, depth), domain)
    reads, anywhere = _reads(read, values, domain)
    return Instances(
        loops, (*around.path, *own), around, domain,
        (*points[:depth], *(found[name] for name in loops.loops)),
        joined(points[depth : depth + rank], domain.space).intersect_domain(domain),
        reads, anywhere, box,
    )  # fmt: skip


def _domain(stage: Stage, box: Box) -> isl.Set:
    elements = box.elements
    for axis in stage.reduced:
        rounds = isl.Set(f"{{ [r] : 0 <= r < {extent_of(axis)} }}")
        elements = elements.flat_range_product(
            isl.Map.from_domain_and_range(elements.domain(), rounds)
        )
    found = elements.wrap().flatten().set_tuple_name(statement(stage))
    depth = box.rounds.dim(isl.dim_type.set)
    for number, axis in enumerate((*stage.axes, *stage.reduced), depth):
        found = found.set_dim_name(isl.dim_type.set, number, axis.name)
    return found


def _from_corner(values: Values, box: Box, domain: isl.Set, depth: int) -> dict[str, isl.PwAff]:
    """Axes counted from where each round's box begins, as loops count them."""
    count = domain.dim(isl.dim_type.set)
    around = isl.MultiAff.project_out_map(domain.space, isl.dim_type.set, depth, count - depth)
    found = dict(values)
    for name, (low, _) in zip(values, box.ends, strict=False):
        found[name] = found[name].sub(low.pullback_multi_aff(around))
    return found


def _loop_values(
    loops: StageLoops, values: dict[str, isl.PwAff], domain: isl.Set
) -> dict[str, isl.PwAff]:
    """The round of each loop at every point."""
    for step in loops.made:
        if isinstance(step, Split):
            old, factor = values.pop(step.loop), isl.Val(step.factor)
            values[step.outer] = old.scale_down_val(factor).floor()
            values[step.inner] = old.mod_val(factor)
        else:
            outer, inner = values.pop(step.outer), values.pop(step.inner)
            rounds = isl.Map.from_pw_aff(inner).intersect_domain(domain).range().dim_max_val(0)
            values[step.fused] = times(outer, rounds.to_python() + 1).add(inner)
    return values


def _reads(
    read: Places, values: Values, domain: isl.Set
) -> tuple[dict[str, isl.Map], tuple[str, ...]]:
    found: dict[str, isl.Map] = {}
    anywhere: list[str] = []
    zero = zero_over(domain)
    for tensor, places in read.items():
        for place in places:
            try:
                at = [value(one.scalar(), values, zero) for one in place]
            except NotFollowed:
                anywhere.append(tensor)
                break
            one = joined(at, domain.space).intersect_domain(domain)
            found[tensor] = found[tensor].union(one) if tensor in found else one
    return found, tuple(anywhere)
