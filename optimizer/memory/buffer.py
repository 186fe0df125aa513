"""What a memory planner plans: pieces of memory, each needed for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of memory, alive on the half-open interval of steps [start, end).

    Attributes:
        name: unique among the buffers of an arena.
        size_bytes: aligned already.
        start: the first step at which it is needed.
        end: the first step at which it is no longer needed.
    """

    name: str
    size_bytes: int
    start: int
    end: int

    @property
    def steps(self) -> int:
        """How long it lives."""
        return self.end - self.start

    def meets(self, other: Buffer) -> bool:
        """Whether both are alive at some step."""
        return max(self.start, other.start) < min(self.end, other.end)


@dataclass(frozen=True, slots=True)
class LiveCurve:
    """How much is alive when: `live_bytes[i]` from `steps[i]` until `steps[i + 1]`."""

    steps: tuple[int, ...]
    live_bytes: tuple[int, ...]

    @property
    def peak_bytes(self) -> int:
        """The most that is alive at once: no plan needs less (a lower bound)."""
        return max(self.live_bytes, default=0)

    @property
    def peak_step(self) -> int:
        """The first step at which that is so; 0 where nothing ever lives."""
        return self.steps[self.live_bytes.index(self.peak_bytes)] if self.live_bytes else 0


def aligned(size_bytes: int, alignment: int) -> int:
    """`size_bytes` rounded up to a multiple of `alignment`."""
    return -(-size_bytes // alignment) * alignment


def live_curve(buffers: Sequence[Buffer]) -> LiveCurve:
    """The sum of what is alive, at every step where it changes."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        if buffer.steps > 0:
            changes[buffer.start] = changes.get(buffer.start, 0) + buffer.size_bytes
            changes[buffer.end] = changes.get(buffer.end, 0) - buffer.size_bytes
    steps = sorted(changes)
    return LiveCurve(tuple(steps), tuple(accumulate(changes[step] for step in steps)))


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """The most bytes alive at once."""
    return live_curve(buffers).peak_bytes
