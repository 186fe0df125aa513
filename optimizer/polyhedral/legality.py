"""Whether an order keeps every dependence, and if not, which one it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive
from optimizer.polyhedral.bounds import counted
from optimizer.polyhedral.dependences import before_in_sum, dependences_of, distance
from optimizer.polyhedral.instances import Instances
from optimizer.polyhedral.nest import PointNest, point_nest

Kind = Literal["order", "fusion", "race"]
"""A pair of points the other way round; a value read where it is not kept; two rounds of a loop
that meet, though they run side by side."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A dependence that an order breaks.

    Attributes:
        func: whose.
        distance: from the point that is needed to the one that needs it; empty where they are not
            of one stage.
        reason: a sentence.
    """

    kind: Kind
    func: str
    distance: tuple[int, ...]
    reason: str


def violations(nest: PointNest) -> Iterator[Violation]:
    """What an order breaks; nothing where it is legal."""
    yield from _reversed(nest)
    yield from _unread(nest)
    for one in nest.stages:
        for number, key in enumerate(one.path[one.depth :], one.depth):
            run = nest.ordered.orders[key.func].stages[key.stage].runs[key.name]
            if run in ("parallel", "vector"):
                yield from _races(nest, one, number, run)


def illegal(algorithm: Algorithm, primitives: Sequence[Primitive]) -> list[Violation]:
    """What an order breaks.

    Raises:
        ScheduleError: a primitive names what is not there.
        NotFollowed: the nest is not affine, or isl needs too long.
    """
    with counted():
        return list(violations(point_nest(algorithm, primitives)))


def _reversed(nest: PointNest) -> Iterator[Violation]:
    """Sums whose parts are added in another order, and readers before what they read."""
    for one in dependences_of(nest):
        if one.kind == "sum" and one.is_exact:
            continue
        times = one.source.time(nest.depth), one.target.time(nest.depth)
        late = one.pairs.intersect(times[0].lex_ge_map(times[1]))
        if one.kind == "flow" or late.is_empty():
            # A point reads the last of those before it: whether there is one is asked below.
            continue
        stage = one.target.stage
        along = [axis.name for axis in stage.reduced]
        gap = distance(late, one.target.depth + len(stage.axes), len(along))
        names = ", ".join(along)
        reason = (
            f"it reverses the dependence ({_numbers(gap)}) of {stage.func} along ({names}): "
            "parts of the sum would be added in another order"
        )
        yield Violation("order", stage.func, gap, reason)


def _unread(nest: PointNest) -> Iterator[Violation]:
    """Readers of what is not kept, or not yet computed."""
    for func, reader, at in {(one.func, one.reader, one.at): None for one in nest.outside}:
        reason = (
            f"{reader} reads {func} outside of loop {at.loop} of {at.reader}, where what a round "
            "computes is gone"
        )
        yield Violation("fusion", func, (), reason)
    gone = {(one.func, one.reader) for one in nest.outside}
    for reader in nest.stages:
        for func in reader.reads:
            made = nest.of(func)
            if not made or (func, reader.stage.func) in gone:
                continue
            if not _covered(nest, made[-1], reader):
                reason = f"{reader.stage.func} reads elements of {func} before they are computed"
                yield Violation("fusion", func, (), reason)


def _covered(nest: PointNest, made: Instances, reader: Instances) -> bool:
    """Whether all that is read was computed before, in the memory that it is read from."""
    stored = made.around.stored
    written = made.leading(stored).flat_range_product(made.writes)
    read = reader.leading(stored).flat_range_product(reader.reads[made.stage.func])
    flow = written.apply_range(read.reverse())
    kept = flow.intersect(made.time(nest.depth).lex_lt_map(reader.time(nest.depth)))
    return bool(read.is_subset(kept.reverse().apply_range(written)))


def _races(nest: PointNest, one: Instances, at: int, run: str) -> Iterator[Violation]:
    """Rounds of a loop that touch the same memory, one of them to write."""
    order = nest.ordered.orders[one.stage.func]
    key = one.path[at]
    if one.stage.number and not order.is_atomic:
        meeting = before_in_sum(one).intersect(_apart(one, one, at))
        if not meeting.is_empty():
            along = [axis.name for axis in one.stage.reduced]
            gap = distance(meeting, one.depth + len(one.stage.axes), len(along))
            reason = (
                f"{run} rounds of {key.name} carry the dependence ({_numbers(gap)}) of "
                f"{one.stage.func} along ({', '.join(along)}): they combine into the same elements"
            )
            yield Violation("race", one.stage.func, gap, reason)
    for func, box in nest.needed.items():
        made = nest.of(func)[0]
        if not made.around.stored <= at < made.depth or made.path[: at + 1] != one.path[: at + 1]:
            continue
        shared = box.elements.apply_range(box.elements.reverse())
        rounds = _plain_apart(made.depth, at)
        meeting = shared.intersect(rounds)
        if not meeting.is_empty():
            gap = distance(meeting, at, 1)
            reason = (
                f"{run} rounds of {key.name} carry a dependence ({_numbers(gap)}) of {func}: what "
                "one computes is kept for another"
            )
            yield Violation("race", func, gap, reason)


def _apart(first: Instances, second: Instances, at: int) -> isl.Map:
    """Points in different rounds of a loop, and in the same rounds of those around it."""
    same = first.leading(at).apply_range(second.leading(at).reverse())
    also = first.leading(at + 1).apply_range(second.leading(at + 1).reverse())
    return same.subtract(also)


def _plain_apart(depth: int, at: int) -> isl.Map:
    """The same of rounds of loops."""
    space = isl.Space.map_from_set(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, depth))
    same = isl.Map.universe(space)
    for number in range(at):
        same = same.equate(isl.dim_type.in_, number, isl.dim_type.out, number)
    return same.subtract(same.equate(isl.dim_type.in_, at, isl.dim_type.out, at))


def _numbers(gap: Sequence[int]) -> str:
    return ", ".join(str(one).replace("-", "−") for one in gap)
