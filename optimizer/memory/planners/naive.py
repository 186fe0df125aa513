"""Every buffer its own block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from optimizer.memory.buffer import Buffer
from optimizer.memory.registry import Budget, Placement, planner


@planner("naive", "Naive", order=0)
def naive(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """One block a tensor, none is ever used again: what a run costs without any planning.

    Source: InfiniTensor's NaiveAllocator, RefactorGraph's flatAllocate.
    """
    sizes = [buffer.size_bytes for buffer in buffers]
    return Placement(list(accumulate(sizes, initial=0))[:-1])
