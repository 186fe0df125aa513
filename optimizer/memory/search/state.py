"""What changes during the search, how it is compiled, and the hash it remembers states by."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

import numba
import numpy as np

from optimizer.memory.search.problem import Integers, Problem

FOUND, RULED_OUT, STOPPED = 1, 0, 2

LOWEST, FULLEST, SCARCEST = 0, 1, 2
"""Where to decide next: at the lowest buffer of all; in the section with most left to place; in the
one with the fewest buffers that can go first in it, by how often it was a dead end."""

TRAIL, DEPTH, QUEUED, UNPLACED, NODES = range(5)
"""What `State.counters` counts."""

BUFFER, MARK, FROM, TO, TURNED, HASH, HASH_2 = range(7)
"""The columns of `State.levels`."""

_MOST_TRAIL = 2_000_000
_REFUTED = 1 << 18


class State(NamedTuple):
    """What changes during the search.

    Attributes:
        bound: of each buffer, the lowest offset it can have; its offset where it is placed.
        rests: of each buffer, whether its bound is the floor or the top of a placed buffer.
        placed: of each buffer, whether its offset is decided.
        crossing: between each section and the one before, unplaced buffers that live in both.
        left: of each section, the size of what is not placed.
        choices: of each section, how many buffers can be the lowest of what is not placed.
        failures: of each section, how often it was too full.
        members: the buffers of each section, kept nearly by bound.
        rank: of each buffer, its place in the order.
        trail: what to undo: buffer (-1 - buffer where it was placed), bound, rests.
        levels: the decisions that can be turned.
        refuted: hashes of states that were ruled out.
        queue: sections to look at.
        queued: of each section, whether it is in the queue.
        counters: lengths and sums.
    """

    bound: Integers
    rests: Integers
    placed: Integers
    crossing: Integers
    left: Integers
    choices: Integers
    failures: Integers
    members: Integers
    rank: Integers
    trail: Integers
    levels: Integers
    refuted: Integers
    queue: Integers
    queued: Integers
    counters: Integers


def state_of(problem: Problem) -> State:
    """Nothing placed: every buffer on the floor, of twins the later above the earlier."""
    count, sections = len(problem.size), len(problem.first_from) - 1
    bound, crossing = np.zeros(count, np.int64), np.zeros(sections + 1, np.int64)
    for one in range(count):
        crossing[problem.first[one] + 1 : problem.end[one]] += 1
        if (twin := problem.twin[one]) >= 0:
            bound[twin] = bound[one] + problem.size[one]
    rows = min(_MOST_TRAIL, 2 * len(problem.meets) + 64 * count + 4096)
    nothing = np.zeros(sections, np.int64)
    counters = np.zeros(5, np.int64)
    counters[UNPLACED], counters[QUEUED] = count, sections
    return State(
        bound=bound, rests=(bound == 0).astype(np.int64), placed=np.zeros(count, np.int64),
        crossing=crossing, left=problem.live, choices=nothing + 1, failures=nothing.copy(),
        members=problem.members.copy(), rank=np.arange(count), trail=np.zeros((rows, 3), np.int64),
        levels=np.zeros((16 * count + 64, 7), np.int64),
        refuted=np.zeros((_REFUTED, 2), np.int64),
        queue=np.arange(sections), queued=nothing + 1, counters=counters,
    )  # fmt: skip


_F = TypeVar("_F", bound=Callable[..., object])


def compiled(function: _F) -> _F:
    """Machine code, kept on disk where that can be written; other threads go on while it runs."""
    try:
        made = numba.njit(cache=True, nogil=True)(function)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] numba has no types
    except RuntimeError:  # neither beside the code nor in the user's folder
        made = numba.njit(nogil=True)(function)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] numba has no types
    return cast("_F", made)


@compiled
def mixed(value: int) -> int:
    """64 bits that depend on all 64 bits (the finalizer of SplitMix64)."""
    value ^= (value >> 30) & 0x3FFFFFFFF
    value *= -4658895280553007687
    value ^= (value >> 27) & 0x1FFFFFFFFF
    value *= -7723592293110705685
    return value ^ ((value >> 31) & 0x1FFFFFFFF)
