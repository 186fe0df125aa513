"""Planners that go through the buffers once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from optimizer.memory.buffer import Buffer
from optimizer.memory.lazy_allocator import LazyAllocator, place_in_time
from optimizer.memory.live_intervals import live_intervals, place_in_order
from optimizer.memory.registry import Budget, Placement, planner


@planner("naive", "Naive", order=0)
def naive(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """One block a tensor, none is ever used again: what a run costs without any planning.

    Source: InfiniTensor's NaiveAllocator, RefactorGraph's flatAllocate.
    """
    sizes = [buffer.size_bytes for buffer in buffers]
    return Placement(list(accumulate(sizes, initial=0))[:-1])


@planner("lazy-best-fit", "Lazy, best fit", order=10)
def lazy_best_fit(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Walk through the run: the smallest free block that is large enough, else a larger arena.

    A free block at the end of the arena is extended by what it lacks. What is freed merges with
    its free neighbours at once. It knows nothing of what comes, as an allocator at run time.
    O(n log n).

    Source: InfiniTensor's LazyAllocator.
    """
    return Placement(place_in_time(buffers, LazyAllocator()))


@planner("runtime-pattern", "ONNX Runtime's pattern", order=20)
def runtime_pattern(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Walk through the run: the smallest free block that is large enough, else a larger block.

    ONNX Runtime traces its first run this way and serves later ones from a single block of that
    size. The rule is the lazy allocator's; what differs is what it is given: ONNX Runtime's own
    lifetimes (`benchmarks.runtime_block`), in its order and rounded up to 256 bytes. At a step
    what ended is free before the step's outputs come, which come in the order of the buffers.

    Source: ONNX Runtime 1.31, MemPatternPlanner::TraceAllocation.
    """
    return Placement(place_in_time(buffers, LazyAllocator()))


@planner("greedy-by-size", "Greedy by size", order=30)
def greedy_by_size(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Place the largest buffer first, each in the smallest gap that is large enough.

    A gap lies between buffers already placed that are alive at the same time; without one the
    buffer goes on top of them. Of equal sizes the earlier comes first. O(n) a buffer.

    Source: Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net Inference",
    greedy by size; as in TensorFlow Lite's arena planner.
    """
    order = sorted(range(len(buffers)), key=lambda i: (-buffers[i].size_bytes, buffers[i].start, i))
    return Placement(place_in_order(live_intervals(buffers), order))


@planner("greedy-by-breadth", "Greedy by breadth", order=40)
def greedy_by_breadth(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Take the steps by how much is alive, most first; at each place what is new, largest first.

    A buffer goes to the smallest gap that is large enough between those that are alive at the same
    time, else on top of them. O(n) a buffer.

    Source: Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net Inference",
    greedy by breadth.
    """
    intervals = live_intervals(buffers)
    order = np.lexsort((-intervals.sizes, intervals.crowded_at, -intervals.crowds))
    return Placement(place_in_order(intervals, order.tolist()))
