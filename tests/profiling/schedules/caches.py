"""A cache that holds the lines that were used last, and what a schedule moves through it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Parallel, Schedule
from optimizer.schedules.locality import LINE_BYTES
from optimizer.schedules.program import numbers_of, program_of
from profiling.schedules.counting import BEGIN, LOAD, STORE, traced


def moved_bytes(algorithm: Algorithm, schedule: Schedule, lines: int) -> int:
    """Bytes that cross behind a cache of so many lines, on one thread.

    Memory that begins anew is at the same place as before: that is what a stack does. What of it
    is written comes from nowhere, and goes out only if its line has to make room.
    """
    between = {func.name for func in algorithm.funcs} - set(program_of(algorithm, ()).outputs)
    boxes = {
        one.name: tuple((0, size) for size in reversed(numbers_of(one.shape)))
        for one in (*algorithm.inputs, *algorithm.funcs)
    }
    serial = tuple(one for one in schedule.primitives if not isinstance(one, Parallel))
    held: OrderedDict[tuple[str, int], bool] = OrderedDict()
    crossed = 0
    for one in traced(algorithm, Schedule(serial), "baseline"):
        if one.event == BEGIN:
            boxes[one.tensor] = tuple(zip(one.place[::2], one.place[1::2], strict=True))
        if one.event not in (LOAD, STORE):
            continue
        line = one.tensor, _place(boxes[one.tensor], one.place) * 4 // LINE_BYTES
        goes_out = one.event == STORE and one.tensor in between
        crossed += line not in held and not goes_out
        held[line] = held.pop(line, False) or goes_out
        if len(held) > lines:
            crossed += held.popitem(last=False)[1]
    return crossed * LINE_BYTES


def _place(box: Sequence[tuple[int, int]], at: Sequence[int]) -> int:
    """Number of an element in a box, whose innermost axis comes first."""
    found = 0
    for (low, size), one in reversed(list(zip(box, at, strict=True))):
        found = found * size + one - low
    return found
