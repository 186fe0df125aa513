"""The most crowded step first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.memory.buffer import Buffer
from optimizer.memory.live_intervals import live_intervals, place_in_order
from optimizer.memory.registry import Budget, Placement, planner


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
