"""The lowest place first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from optimizer.memory.buffer import Buffer
from optimizer.memory.live_intervals import Column, LiveIntervals, live_intervals
from optimizer.memory.registry import Budget, Placement, planner

PRIORITIES = ("TWA", "TAW", "WAT", "SAT")
"""Which of several buffers goes first: the one with the larger (T)otal of bytes that are alive at
the most crowded step of its life, the longer life (W, as in width), the larger (A)rea in byte-steps
or (S)ize; letters to the right break ties."""

_TAKEN = int(np.iinfo(np.int64).max)


@planner("canonical", "Lowest place first", order=50)
def canonical(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Again and again place the buffer that can lie lowest, as low as it can.

    Every plan can be pressed down into one that is made this way, so that the only question is
    which of several buffers goes first. Four priorities are tried until one meets the bound.
    O(n) of numpy a buffer.

    Source: the canonical plans of Moffitt 2023, "MiniMalloc: A Lightweight Memory Allocator for
    Hardware-Accelerated Machine Learning"; one descent without its search.
    """
    found = best_descent(live_intervals(buffers), budget.goal(buffers))
    return Placement(found.offsets.tolist(), note=f"Priority {found.priority}.")


@dataclass(frozen=True, slots=True)
class Descent:
    """A plan made by placing the lowest first.

    Attributes:
        ranked: int64[n], the buffers, the first of which goes first where several can.
        offsets: int64[n].
        peak_bytes: size of the arena.
        priority: the letters of `PRIORITIES`, if some made the ranking.
    """

    ranked: Column
    offsets: Column
    peak_bytes: int
    priority: str = ""


def best_descent(intervals: LiveIntervals, goal_bytes: int) -> Descent:
    """The smallest plan of all priorities; the first that is small enough."""
    best, limit_bytes = None, _TAKEN
    for priority in PRIORITIES:
        found = descend(intervals, ranking(intervals, priority), limit_bytes)
        if found is not None:
            best, limit_bytes = replace(found, priority=priority), found.peak_bytes - 1
        if limit_bytes < goal_bytes:
            break
    assert best is not None
    return best


def ranking(intervals: LiveIntervals, priority: str) -> Column:
    """The buffers by priority, first the one to place first; letters as in `PRIORITIES`."""
    letters = {
        "T": intervals.crowds,
        "W": intervals.steps,
        "A": intervals.sizes * intervals.steps.astype(np.float64),
        "S": intervals.sizes,
    }
    return np.lexsort([-letters[letter] for letter in reversed(priority)])


def descend(intervals: LiveIntervals, ranked: Column, limit_bytes: float) -> Descent | None:
    """Place the lowest first; of buffers that can lie equally low the first in `ranked`.

    None as soon as the plan needs more than `limit_bytes`.
    """
    starts, ends, sizes = intervals.starts[ranked], intervals.ends[ranked], intervals.sizes[ranked]
    offsets = np.zeros(len(ranked), np.int64)
    lowest = np.where(sizes > 0, 0, _TAKEN)
    peak = 0
    for _ in range(int((sizes > 0).sum())):
        index = int(lowest.argmin())
        offset = lowest[index]
        top = offset + sizes[index]
        peak = max(peak, int(top))
        if peak > limit_bytes:
            return None
        offsets[ranked[index]] = offset
        lowest[index] = _TAKEN
        meets = (starts < ends[index]) & (ends > starts[index])
        np.maximum(lowest, meets * top, out=lowest)
    return Descent(ranked, offsets, peak)
