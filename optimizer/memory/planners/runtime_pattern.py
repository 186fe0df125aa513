"""The memory pattern of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.memory.buffer import Buffer
from optimizer.memory.lazy_allocator import LazyAllocator, place_in_time
from optimizer.memory.registry import Budget, Placement, planner


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
