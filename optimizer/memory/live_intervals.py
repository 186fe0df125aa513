"""Buffers as columns of numbers, for planners that compare one with all others at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optimizer.memory.buffer import Buffer, live_curve

Column = NDArray[np.int64]

Gap = Literal["best", "first"]
"""Which gap a buffer goes to: the smallest that is large enough, or the lowest."""


@dataclass(frozen=True, slots=True)
class LiveIntervals:
    """One entry a buffer; steps are numbered anew, only those at which something changes count.

    Attributes:
        starts: int64[n], first step at which it is needed.
        ends: int64[n], first step at which it is not.
        sizes: int64[n], bytes; 0 for what needs no room at any time.
        crowds: int64[n], the most bytes alive at any step of its life.
        crowded_at: int64[n], the first step at which that is so.
        steps: int64[n], how long it lives, in steps of the run.
    """

    starts: Column
    ends: Column
    sizes: Column
    crowds: Column
    crowded_at: Column
    steps: Column


def live_intervals(buffers: Sequence[Buffer]) -> LiveIntervals:
    """The columns of some buffers."""
    curve = live_curve(buffers)
    changes = np.array(curve.steps, np.int64)
    starts = np.searchsorted(changes, np.array([buffer.start for buffer in buffers], np.int64))
    ends = np.searchsorted(changes, np.array([buffer.end for buffer in buffers], np.int64))
    steps = np.array([buffer.steps for buffer in buffers], np.int64)
    alive = steps > 0
    sizes = np.where(alive, np.array([buffer.size_bytes for buffer in buffers], np.int64), 0)
    live = np.array([*curve.live_bytes, 0], np.int64)
    crowded_at = np.array(
        [
            start + int(live[start:end].argmax()) if start < end else len(live) - 1
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ],
        np.int64,
    )
    return LiveIntervals(starts, ends, sizes, live[crowded_at], crowded_at, steps)


def place_in_order(
    intervals: LiveIntervals, order: Iterable[int], *, gap: Gap = "best"
) -> list[int]:
    """Put each buffer into a gap between those already placed that meet it, else on top of them.

    O(n) of numpy for each buffer: what is placed stays sorted by offset.

    Returns:
        The offsets.
    """
    offsets = [0] * len(intervals.sizes)
    placed = np.empty((4, len(offsets)), np.int64)  # offset, upper end, start, end of life
    count = 0
    for index in order:
        size = intervals.sizes[index]
        if not size:
            continue
        lows, highs, starts, ends = placed[:, :count]
        meets = (starts < intervals.ends[index]) & (ends > intervals.starts[index])
        offset = _offset_in(lows[meets], highs[meets], size, gap)
        offsets[index] = offset
        at = int(np.searchsorted(lows, offset))
        placed[:, at + 1 : count + 1] = placed[:, at:count]
        placed[:, at] = offset, offset + size, intervals.starts[index], intervals.ends[index]
        count += 1
    return offsets


def _offset_in(lows: Column, highs: Column, size: np.int64, gap: Gap) -> int:
    """Where `size` bytes go among occupied ranges sorted by their lower ends."""
    if not len(lows):
        return 0
    tops = np.maximum.accumulate(highs)
    floors = np.concatenate((np.zeros(1, np.int64), tops[:-1]))
    gaps = lows - floors
    fitting = np.flatnonzero(gaps >= size)
    if not len(fitting):
        return int(tops[-1])
    return int(floors[fitting[0] if gap == "first" else fitting[np.argmin(gaps[fitting])]])
