"""Which point needs what another one made.

Within a sum: every point needs what those before it, in the order in which it is written, added up.
Between stages: who reads an element needs the last nest that gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from optimizer.polyhedral.instances import Instances
from optimizer.polyhedral.nest import PointNest

Kind = Literal["flow", "first", "sum"]


@dataclass(frozen=True)
class Dependence:
    """Pairs of points, of which the first has to run first.

    Attributes:
        kind: `flow` from one Func to another, `first` from first values to what combines with
            them, `sum` from what was combined before.
        source: whose points come first.
        target: whose points need them.
        pairs: from the one to the other.
        is_exact: whether another order gives the same to the last bit: only of a `sum`.
    """

    kind: Kind
    source: Instances
    target: Instances
    pairs: isl.Map
    is_exact: bool = False


def dependences_of(nest: PointNest) -> Iterator[Dependence]:
    """All dependences of a nest, within one memory of each Func."""
    for one in nest.stages:
        if one.stage.number:
            is_exact = nest.ordered.orders[one.stage.func].func.is_exact
            first = nest.of(one.stage.func)[0]
            yield Dependence("first", first, one, _same_element(first, one))
            yield Dependence("sum", one, one, before_in_sum(one), is_exact)
        for tensor in one.reads:
            made = nest.of(tensor)
            if made:
                yield Dependence("flow", made[-1], one, _flow(made[-1], one))


def before_in_sum(one: Instances) -> isl.Map:
    """From each point to those that combine into the same element later, as it is written."""
    kept = one.domain.dim(isl.dim_type.set) - len(one.stage.reduced)
    same = isl.Map.identity(isl.Space.map_from_set(_plain(kept)))
    later = isl.Map.lex_lt(_plain(len(one.stage.reduced)))
    return _within(same.flat_product(later), one, one)


def _same_element(first: Instances, second: Instances) -> isl.Map:
    same = first.leading(first.depth).flat_range_product(first.writes)
    other = second.leading(second.depth).flat_range_product(second.writes)
    return same.apply_range(other.reverse())


def _flow(made: Instances, reader: Instances) -> isl.Map:
    """To who reads an element while it is kept."""
    stored = made.around.stored
    if made.path[:stored] != reader.path[:stored]:
        return isl.Map.empty(made.domain.space.map_from_domain_and_range(reader.domain.space))
    written = made.leading(stored).flat_range_product(made.writes)
    read = reader.leading(stored).flat_range_product(reader.reads[made.stage.func])
    return written.apply_range(read.reverse())


def _plain(count: int) -> isl.Space:
    return isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, count)


def _within(pairs: isl.Map, source: Instances, target: Instances) -> isl.Map:
    """Pairs of points of two stages."""
    kinds = isl.dim_type
    named = pairs.set_tuple_name(kinds.in_, source.domain.get_tuple_name())
    named = named.set_tuple_name(kinds.out, target.domain.get_tuple_name())
    return named.intersect_domain(source.domain).intersect_range(target.domain)


def distance(pairs: isl.Map, first: int, count: int) -> tuple[int, ...]:
    """How far apart the two points of a pair are along some axes, for a pair that is near.

    Args:
        pairs: one or more, of points of one stage.
        first: the number of the first axis.
        count: of axes.
    """
    kinds, axes = isl.dim_type, isl.dim_type.set
    deltas = pairs.reset_tuple_id(kinds.in_).reset_tuple_id(kinds.out).deltas()
    total = deltas.dim(axes)
    along = deltas.project_out(axes, first + count, total - first - count)
    along = along.project_out(axes, 0, first)
    for axis in reversed(range(count)):
        along = _kept(along, along.fix_val(axes, axis, isl.Val(0)))
    for axis in range(count):
        along = _kept(along, along.lower_bound_val(axes, axis, isl.Val(0)))
        for reach in (1, 2, 4):
            bounded = along.lower_bound_val(axes, axis, isl.Val(-reach))
            along = _kept(along, bounded.upper_bound_val(axes, axis, isl.Val(reach)))
    point = along.lexmin().sample_point()
    return tuple(point.get_coordinate_val(axes, axis).to_python() for axis in range(count))


def _kept(among: isl.Set, fewer: isl.Set) -> isl.Set:
    """The part of a set, unless nothing is in it."""
    return among if fewer.is_empty() else fewer
