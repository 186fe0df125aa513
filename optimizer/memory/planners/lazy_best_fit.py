"""The allocator of a run, buffer by buffer."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.memory.buffer import Buffer
from optimizer.memory.lazy_allocator import LazyAllocator, place_in_time
from optimizer.memory.registry import Budget, Placement, planner


@planner("lazy-best-fit", "Lazy, best fit", order=10)
def lazy_best_fit(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Walk through the run: the smallest free block that is large enough, else a larger arena.

    A free block at the end of the arena is extended by what it lacks. What is freed merges with
    its free neighbours at once. It knows nothing of what comes, as an allocator at run time.
    O(n log n).

    Source: InfiniTensor's LazyAllocator.
    """
    return Placement(place_in_time(buffers, LazyAllocator()))
