"""The lowest place first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.memory.buffer import Buffer
from optimizer.memory.lives import Column, Lives, lives_of
from optimizer.memory.plan import peak_bytes
from optimizer.memory.registry import Budget, Placement, planner

PRIORITIES = ("TWA", "TAW", "WAT", "SAT")
"""Which of several buffers goes first: the one with the larger (T)otal of bytes that are alive at
the most crowded step of its life, the longer life (W, as in width), the larger (A)rea in byte-steps
or (S)ize; letters to the right break ties."""

_TAKEN = np.iinfo(np.int64).max


@planner("canonical", "Lowest place first", order=50)
def canonical(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Again and again place the buffer that can lie lowest, as low as it can.

    Every plan can be pressed down into one that is made this way, so that the only question is
    which of several buffers goes first. Four priorities are tried until one meets the bound.
    O(n) of numpy a buffer.

    Source: the canonical plans of Moffitt 2023, "MiniMalloc: A Lightweight Memory Allocator for
    Hardware-Accelerated Machine Learning"; one descent without its search.
    """
    lives = lives_of(buffers)
    best: tuple[int, list[int], str] | None = None
    for priority in PRIORITIES:
        offsets = lowest_first(lives, ranking(lives, priority)).tolist()
        peak = peak_bytes(buffers, offsets)
        if best is None or peak < best[0]:
            best = peak, offsets, priority
        if peak <= budget.goal(buffers):
            break
    return Placement([]) if best is None else Placement(best[1], note=f"Priority {best[2]}.")


def ranking(lives: Lives, priority: str) -> Column:
    """The buffers by priority, first the one to place first; letters as in `PRIORITIES`."""
    letters = {
        "T": lives.crowds,
        "W": lives.steps,
        "A": lives.sizes * lives.steps.astype(np.float64),
        "S": lives.sizes,
    }
    return np.lexsort([-letters[letter] for letter in reversed(priority)])


def lowest_first(lives: Lives, ranked: Column) -> Column:
    """One descent; of buffers that can lie equally low the first in `ranked` is placed.

    Returns:
        int64[n], the offsets.
    """
    starts, ends, sizes = lives.starts[ranked], lives.ends[ranked], lives.sizes[ranked]
    offsets = np.zeros(len(ranked), np.int64)
    lowest = np.where(sizes > 0, 0, _TAKEN)
    for _ in range(int((sizes > 0).sum())):
        index = int(lowest.argmin())
        offset = lowest[index]
        offsets[ranked[index]] = offset
        lowest[index] = _TAKEN
        meets = (starts < ends[index]) & (ends > starts[index])
        np.maximum(lowest, meets * (offset + sizes[index]), out=lowest)
    return offsets
