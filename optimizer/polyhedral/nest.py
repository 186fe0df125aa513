"""All points of an ordered algorithm: found from the outputs backwards, as what is needed is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, ScheduleError
from optimizer.polyhedral.bounds import NotFollowed
from optimizer.polyhedral.boxes import Box, box_of, new_in, whole_box
from optimizer.polyhedral.instances import Instances, Surroundings, instances_of
from optimizer.polyhedral.loops import loops_of
from optimizer.schedules.ordering import At, FuncOrder, Ordered
from optimizer.schedules.places import Reading
from optimizer.schedules.placing import LoopKey, Path

_STAGES = 2
"""Of a Func, at most."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A stage that reads a Func outside of the loop that it is computed, or kept, in."""

    func: str
    reader: str
    at: At


@dataclass
class PointNest:
    """All points.

    Attributes:
        stages: those that have loops, each after what it reads.
        needed: what is needed of a Func in each round of the loops around, by its name.
        outside: readers that its order leaves out.
    """

    ordered: Ordered
    stages: list[Instances] = field(default_factory=list[Instances])
    needed: dict[str, Box] = field(default_factory=dict[str, Box])
    outside: list[Outside] = field(default_factory=list[Outside])

    @property
    def depth(self) -> int:
        """Of its deepest loops."""
        return max(len(one.path) for one in self.stages)

    def of(self, func: str) -> list[Instances]:
        """The stages of a Func."""
        return [one for one in self.stages if one.stage.func == func]


def point_nest(algorithm: Algorithm, primitives: Sequence[Primitive]) -> PointNest:
    """The points of an algorithm in this order, whether or not that is right.

    Raises:
        ScheduleError: a primitive names what is not there, or a Func is computed where nothing
            reads it.
        NotFollowed: a place that is read of a Func is not affine.
    """
    return _Building(loops_of(algorithm, primitives)).done()


class _Building:
    def __init__(self, ordered: Ordered) -> None:
        self._ordered, self._program = ordered, ordered.program
        self._inlined = frozenset(
            name
            for name, one in ordered.orders.items()
            if one.compute == "inline" and not one.func.reduces
            if name not in ordered.program.outputs
        )
        self._reading = Reading(self._program, self._inlined)
        self._nest = PointNest(ordered)

    def done(self) -> PointNest:
        for number, func in reversed(list(enumerate(self._program.funcs))):
            if func.name not in self._inlined:
                self._add(number, self._ordered.orders[func.name])
        self._nest.stages.reverse()
        return self._nest

    def _add(self, number: int, order: FuncOrder) -> None:
        name = order.func.name
        uses = [one for one in self._nest.stages if name in one.reads or name in one.anywhere]
        is_output = name in self._program.outputs
        if not uses and not is_output:
            return
        for one in uses:
            if name in one.anywhere:
                raise NotFollowed(
                    f"{one.stage.func} reads {name} at places that are known only when the kernel "
                    "runs, or are products of loops: such a nest is not affine, and isl cannot "
                    "follow it."
                )
        path = self._placed(order, order.compute, uses)
        kept = path if order.store is None else self._placed(order, order.store, uses)
        if path[: len(kept)] != kept:
            raise ScheduleError(
                None, f"the memory of {name} lives inside the loop it is computed in"
            )
        stored = len(kept)
        inside = [one for one in uses if one.path[: len(path)] == path]
        box = whole_box(order.func.shape)
        if not is_output:
            needs = [
                one.leading(len(path)).reverse().apply_range(one.reads[name]) for one in inside
            ]
            box = box_of(needs, len(order.func.axes))
        self._nest.needed[name] = box
        made = new_in(box, stored) if stored < len(path) else box
        turns = inside[0].turns[: len(path)] if path else ()
        around = Surroundings(path, stored, turns, _STAGES * number)
        for loops in reversed(order.stages):
            own = tuple(LoopKey(name, loops.stage.number, loop) for loop in loops.loops)
            every = self._reading.of(loops.stage)
            read = {one: places for one, places in every.items() if one not in self._inlined}
            self._nest.stages.append(instances_of(loops, own, around, read=read, box=made))

    def _placed(self, order: FuncOrder, where: object, uses: Sequence[Instances]) -> Path:
        """The loops around a Func; who reads it outside of them is noted."""
        if not isinstance(where, At):
            inline = where == "inline" and order.func.reduces and uses
            return uses[0].path if inline else ()
        heads = [_head(one.path, where) for one in uses]
        found = next((head for head in heads if head), None)
        if found is None:
            raise ScheduleError(None, f"{order.func.name} is not read in {where.reader}")
        self._nest.outside += [
            Outside(order.func.name, one.stage.func, where)
            for one, head in zip(uses, heads, strict=True)
            if head != found
        ]
        return found


def _head(path: Path, at: At) -> Path:
    """A path down to a loop; empty where it does not go through it."""
    for number, key in enumerate(path):
        if key.func == at.reader and key.name == at.loop:
            return path[: number + 1]
    return ()
