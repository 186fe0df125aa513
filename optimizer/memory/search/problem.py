"""A plan to search for, as arrays: buffers, the sections they live in, who meets whom."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer

Integers = NDArray[np.int64]

MOST_MEETINGS = 4_000_000
"""Pairs of buffers that are alive together, each counted twice: 32 MB; more are not searched."""


class Problem(NamedTuple):
    """Rectangles whose place in time is fixed and whose offset is not.

    It keeps this name: numba reads it from what it compiled for an earlier version.

    A section is a set of buffers alive at one step and contained in no larger such set: two buffers
    meet exactly if they share a section, so that other steps need not be looked at.

    Attributes:
        first: of each buffer, its first section.
        end: of each buffer, the section after its last.
        size: of each buffer, in units.
        twin: of each buffer, the next one with the same sections and size; -1 for none.
        member_from: where each section's buffers begin in a table of members.
        members: the buffers of each section.
        meets_from: where the neighbours of each buffer begin in `meets`.
        meets: the buffers that share a section with each buffer.
        by_first: the buffers, by first section.
        first_from: where those that begin at each section begin in `by_first`.
    """

    first: Integers
    end: Integers
    size: Integers
    twin: Integers
    member_from: Integers
    members: Integers
    meets_from: Integers
    meets: Integers
    by_first: Integers
    first_from: Integers

    @property
    def live(self) -> Integers:
        """How much is alive in each section, in units."""
        starts = self.member_from[:-1]
        return np.add.reduceat(self.size[self.members], starts)


def unit_bytes(buffers: Sequence[Buffer]) -> int:
    """What every size is a multiple of: left-justified plans have offsets that are, too."""
    return math.gcd(*(buffer.size_bytes for buffer in buffers))


def problem_of(buffers: Sequence[Buffer]) -> Problem:
    """The arrays of some buffers, all of which live and have a size.

    Raises:
        PlanError: too many of them are alive together.
    """
    steps = _fullest_steps(buffers)
    first = _integers([bisect_left(steps, buffer.start) for buffer in buffers])
    end = _integers([bisect_left(steps, buffer.end) for buffer in buffers])
    by_first = np.argsort(first, kind="stable")
    # Whoever begins before it ends, less whoever ended before it began: the buffers it meets.
    began = np.searchsorted(first[by_first], end)
    met = int(np.sum(began - np.searchsorted(np.sort(end), first, side="right"))) - len(buffers)
    if met > MOST_MEETINGS:
        raise PlanError(
            f"{met:,} meetings of buffers are too many to search (limit {MOST_MEETINGS:,})."
        )
    unit = unit_bytes(buffers)
    size = _integers([buffer.size_bytes // unit for buffer in buffers])
    sections = [np.flatnonzero((first <= at) & (at < end)) for at in range(len(steps))]
    meetings = [
        np.flatnonzero((first < end[one]) & (first[one] < end) & (np.arange(len(first)) != one))
        for one in range(len(buffers))
    ]
    return Problem(
        first, end, size, _twins(first, end, size), *_table(sections), *_table(meetings),
        by_first, np.searchsorted(first[by_first], np.arange(len(steps) + 1)),
    )  # fmt: skip


def _fullest_steps(buffers: Sequence[Buffer]) -> list[int]:
    """One step of each section: the last start before an end that follows it."""
    changes = sorted(
        [(buffer.end, False) for buffer in buffers] + [(buffer.start, True) for buffer in buffers]
    )
    return [step for (step, starts), (_, also) in pairwise(changes) if starts and not also]


def _twins(first: Integers, end: Integers, size: Integers) -> Integers:
    twin, seen = np.full(len(size), -1, np.int64), dict[tuple[int, int, int], int]()
    for one, key in enumerate(zip(first.tolist(), end.tolist(), size.tolist(), strict=True)):
        if key in seen:
            twin[seen[key]] = one
        seen[key] = one
    return twin


def _table(rows: Sequence[Integers]) -> tuple[Integers, Integers]:
    lengths = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return lengths, np.concatenate(rows).astype(np.int64)


def _integers(values: Sequence[int]) -> Integers:
    return np.asarray(values, np.int64)
