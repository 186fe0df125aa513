"""The largest first."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.memory.buffer import Buffer
from optimizer.memory.live_intervals import live_intervals, place_in_order
from optimizer.memory.registry import Budget, Placement, planner


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
