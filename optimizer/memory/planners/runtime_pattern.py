"""The memory pattern of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.memory.buffer import Buffer
from optimizer.memory.lazy_allocator import LazyAllocator, place_in_time
from optimizer.memory.registry import Budget, Placement, planner


@planner("runtime-pattern", "ONNX Runtime's pattern", order=20)
def runtime_pattern(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Walk through the run: the smallest gap between live blocks, else after the last of them.

    ONNX Runtime traces its first run this way and serves later ones from a single block of that
    size. It differs from the lazy allocator in one thing: what is free behind the last live block
    is taken only if no gap between live blocks is large enough. At a step what ended is free
    before the step's outputs come, which come in the order of the buffers.

    Source: ONNX Runtime, MemPatternPlanner::TraceAllocation.
    """
    return Placement(place_in_time(buffers, LazyAllocator("inner")))
