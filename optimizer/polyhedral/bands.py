"""isl's own scheduler: which stages it runs in common loops, and what it knows of these loops.

Source: Bondhugula et al. 2008 (Pluto) and Verdoolaege and Janssens 2017, as isl has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import ComputeRoot
from optimizer.polyhedral.affine import constant
from optimizer.polyhedral.dependences import dependences_of
from optimizer.polyhedral.instances import Instances, statement
from optimizer.polyhedral.nest import PointNest, point_nest
from optimizer.schedules.program import program_of


@dataclass(frozen=True, slots=True)
class Member:
    """One loop of a band.

    Attributes:
        coincident: whether no dependence runs between its rounds.
        axes: which axis it follows in each stage, and from where on; none where it follows no
            single one.
    """

    coincident: bool
    axes: Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Band:
    """Loops that stages have in common, and that can be tiled where they may trade places.

    Attributes:
        stages: as isl calls them, in the order of the program.
        permutable: whether the loops may trade places.
    """

    stages: tuple[str, ...]
    members: tuple[Member, ...]
    permutable: bool


@dataclass(frozen=True)
class Found:
    """What isl's scheduler finds.

    Attributes:
        bands: the outermost ones, one after another.
        nest: what it was asked about: every stage by itself.
        tree: as isl writes it.
    """

    bands: tuple[Band, ...]
    nest: PointNest
    tree: str


def bands_of(algorithm: Algorithm, *, keep_parallel: bool = False) -> Found:
    """Ask isl for a schedule: all dependences kept, none of them long, as many loops as can be.

    Args:
        algorithm: of sizes that are numbers.
        keep_parallel: whether stages share loops only where those stay parallel.

    Raises:
        ScheduleError: sizes are no numbers.
        NotFollowed: the algorithm is not affine.
    """
    program = program_of(algorithm, ())
    names = [func.name for func in program.funcs if func.name not in program.outputs]
    nest = point_nest(algorithm, [ComputeRoot(name) for name in names])
    isl.DEFAULT_CONTEXT.set_schedule_maximize_coincidence(int(keep_parallel))
    root = _constraints(nest).compute_schedule().get_root()
    known = {statement(one.stage): one for one in nest.stages}
    return Found(tuple(_bands(root, known)), nest, root.to_str())


def _constraints(nest: PointNest) -> isl.ScheduleConstraints:
    """What has to hold, what should be parallel, and what should be near."""
    found = list(dependences_of(nest))
    needed = _union([one.pairs for one in found if not one.is_exact])
    near = _union([one.pairs for one in found if one.kind != "sum"])
    domains = [isl.UnionSet.from_set(one.domain) for one in nest.stages]
    made = isl.ScheduleConstraints.on_domain(reduce(lambda a, b: a.union(b), domains))
    made = made.set_validity(needed).set_coincidence(_union([one.pairs for one in found]))
    return made.set_proximity(near)


def _union(maps: Sequence[isl.Map]) -> isl.UnionMap:
    every = [isl.UnionMap.from_map(one) for one in maps]
    return reduce(lambda a, b: a.union(b), every, isl.UnionMap("{ }"))


def _bands(node: isl.ScheduleNode, known: Mapping[str, Instances]) -> Iterator[Band]:
    """The outermost bands below a node."""
    if node.get_type() == isl.schedule_node_type.band:
        yield _band(node, known)
        return
    for number in range(node.n_children()):
        yield from _bands(node.get_child(number), known)


def _band(node: isl.ScheduleNode, known: Mapping[str, Instances]) -> Band:
    here: set[str] = set()
    node.get_domain().foreach_set(lambda one: here.add(one.get_tuple_name()))
    stages = tuple(name for name in known if name in here)
    schedule = node.band_get_partial_schedule()
    members = [
        Member(
            bool(node.band_member_get_coincident(number)),
            {
                name: axis
                for name in stages
                if (axis := _axis(schedule.get_union_pw_aff(number), known[name])) is not None
            },
        )
        for number in range(node.band_n_member())
    ]
    return Band(stages, tuple(members), bool(node.band_get_permutable()))


def _axis(schedule: isl.UnionPwAff, one: Instances) -> tuple[str, int] | None:
    """The axis that a loop follows in a stage, and from where on."""
    space = isl.Space.from_domain(one.domain.space).add_dims(isl.dim_type.out, 1)
    along = schedule.extract_pw_aff(space)
    local = isl.LocalSpace.from_space(one.domain.space)
    for number, name in enumerate(one.axes):
        own = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, number))
        shift = constant(along.sub(own))
        if shift is not None:
            return name, shift
    return None
