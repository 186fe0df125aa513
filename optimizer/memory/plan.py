"""A plan: an offset for every buffer, checked by somebody who did not make it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from optimizer.errors import PlanError, quoted
from optimizer.memory.buffer import Buffer, lower_bound

Certificate = Literal["meets the bound", "search exhausted"]
"""Why nothing smaller exists: as much is alive at once, or every smaller plan was ruled out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a planner made of some buffers.

    Attributes:
        planner: its id.
        offsets: bytes from the start of the arena, one for each buffer.
        peak_bytes: size of the arena.
        bound_bytes: the most that is alive at once.
        certificate: the proof that nothing smaller exists; None where there is none.
        seconds: wall clock it took.
        note: what the planner has to say, for example which of several won.
    """

    planner: str
    offsets: tuple[int, ...]
    peak_bytes: int
    bound_bytes: int
    certificate: Certificate | None
    seconds: float = 0.0
    note: str = ""


def peak_bytes(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    """Where the highest buffer ends."""
    used = (
        offset + buffer.size_bytes
        for buffer, offset in zip(buffers, offsets, strict=True)
        if buffer.steps > 0
    )
    return max(used, default=0)


def check_plan(buffers: Sequence[Buffer], offsets: Sequence[int]) -> None:
    """Sweep over time with the live address ranges in order: no two may overlap.

    O(n log n): ranges that are alive and disjoint are in order, so that only the neighbours of a
    new one can be in its way.

    Raises:
        PlanError: an offset is missing or negative, or two live buffers share a byte.
    """
    if len(offsets) != len(buffers):
        raise PlanError(f"The plan has {len(offsets)} offsets for {len(buffers)} buffers.")
    changes: list[tuple[int, int, int]] = []
    for index, buffer in enumerate(buffers):
        if offsets[index] < 0:
            raise PlanError(f"The plan puts {quoted(buffer.name)} at {offsets[index]}, below 0.")
        if buffer.steps > 0 and buffer.size_bytes:
            changes += [(buffer.end, 0, index), (buffer.start, 1, index)]
    live: list[tuple[int, int]] = []  # offset, index
    for step, starts, index in sorted(changes):
        at = bisect_left(live, (offsets[index], index))
        if not starts:
            del live[at]
            continue
        live.insert(at, (offsets[index], index))
        for (low, first), (high, second) in pairwise(live[max(0, at - 1) : at + 2]):
            if low + buffers[first].size_bytes > high:
                names = f"{quoted(buffers[first].name)} and {quoted(buffers[second].name)}"
                raise PlanError(f"The plan puts {names} into the same bytes at step {step}.")


def certificate_of(
    buffers: Sequence[Buffer], peak: int, *, exhausted: bool = False
) -> Certificate | None:
    """The proof that no plan is smaller than `peak` bytes, if there is one."""
    if peak == lower_bound(buffers):
        return "meets the bound"
    return "search exhausted" if exhausted else None
