"""Loops whose rounds are shared among threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.loops.algorithm import LoopAxis
from optimizer.loops.schedule import Parallel, Primitive

ENOUGH = 8
"""Rounds of a loop that make tasks for most processors."""


def parallel_loops(func: str, loops: Sequence[tuple[LoopAxis, str]]) -> Iterator[Primitive]:
    """The first loop in parallel; the second one, too, where rounds of the first may be few.

    Args:
        func: whose loops they are.
        loops: an axis and the name of its loop, the outermost first.
    """
    for axis, name in loops[:2]:
        yield Parallel(func, name)
        if isinstance(axis.extent, int) and axis.extent >= ENOUGH:
            return
