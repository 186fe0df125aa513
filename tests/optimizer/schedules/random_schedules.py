"""Schedules drawn at random: most primitives can be applied to what was drawn before."""

from __future__ import annotations

from random import Random

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    Parallel,
    Primitive,
    Reorder,
    Schedule,
    ScheduleError,
    Split,
    StoreAt,
    StoreRoot,
    Tail,
    Unroll,
    Vectorize,
)
from optimizer.schedules.ordering import ordered
from optimizer.schedules.program import program_of

_TAILS: tuple[Tail, ...] = ("auto", "guard_with_if", "guard_with_if", "shift_inwards", "predicate")
_FACTORS = (1, 2, 3, 4, 4, 8, 8, 16)


def random_schedule(algorithm: Algorithm, random: Random, most: int = 8) -> Schedule:
    """Up to so many primitives; one in ten cannot be applied."""
    drawn: list[Primitive] = []
    for _ in range(random.randint(1, most)):
        one = _Draw(algorithm, drawn, random).primitive(len(drawn))
        try:
            ordered(algorithm, [*drawn, one])
        except ScheduleError:
            if random.random() < 0.9:
                continue
        drawn.append(one)
    return Schedule(tuple(drawn))


class _Draw:
    """Draws from the loops that there are."""

    def __init__(self, algorithm: Algorithm, drawn: list[Primitive], random: Random) -> None:
        self._random = random
        self._outputs = program_of(algorithm, []).outputs
        try:
            self._orders = ordered(algorithm, drawn).orders
        except ScheduleError:
            self._orders = ordered(algorithm, []).orders

    def primitive(self, number: int) -> Primitive:
        """The one of this number."""
        draw = self._random
        func = draw.choice(list(self._orders))
        order = self._orders[func]
        nest = draw.randrange(len(order.stages))
        stage = order.stages[nest]
        loop = draw.choice([*stage.loops, *stage.loops, *stage.loops, "gone"])
        names = f"o{number}", f"i{number}"
        kind = draw.randrange(13)
        if kind < 3:
            factor, tail = draw.choice(_FACTORS), draw.choice(_TAILS)
            return Split(func, loop, *names, factor, tail, nest)
        if kind == 3 and len(stage.loops) > 1:
            at = draw.randrange(len(stage.loops) - 1)
            return Fuse(func, stage.loops[at], stage.loops[at + 1], names[0], nest)
        if kind < 6:
            some = draw.sample(stage.loops, draw.randint(1, len(stage.loops)))
            return Reorder(func, tuple(some), nest)
        if kind < 9:
            return draw.choice((Vectorize, Unroll, Parallel))(func, loop, nest)
        if kind == 9:
            return draw.choice((ComputeRoot, ComputeInline, StoreRoot))(func)
        func = draw.choice([*(one for one in self._orders if one not in self._outputs), "gone"])
        reader = draw.choice(list(self._orders))
        loops = draw.choice(self._orders[reader].stages).loops
        return draw.choice((ComputeAt, ComputeAt, StoreAt))(func, reader, draw.choice(loops))
