"""Repeats in a list of labels: by a suffix array and the lengths that neighbours in it share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Repeated(NamedTuple):
    """Places at which the same labels stand.

    Attributes:
        length: of what they have in common.
        first: of the places, in the suffix array.
        last: likewise, included.
    """

    length: int
    first: int
    last: int

    @property
    def places(self) -> int:
        """How many places."""
        return self.last - self.first + 1


def sorted_suffixes(labels: Sequence[int]) -> tuple[list[int], list[int]]:
    """The places of a list in the order of what begins there, and what neighbours share.

    Returns: the suffix array, and how many labels each suffix shares with the one before it.

    Source: Manber and Myers 1993, by prefix doubling; shared lengths from the ranks of each round.
    """
    rank = np.unique(np.asarray(labels, np.int64), return_inverse=True)[1].astype(np.int64)
    size, ranks = len(rank), [rank]
    while True:
        step = 1 << (len(ranks) - 1)
        following = np.zeros(size, np.int64)
        following[: size - step] = rank[step:] + 1
        key = rank * (size + 1) + following
        order = np.argsort(key, kind="stable")
        rank = np.empty(size, np.int64)
        rank[order] = np.concatenate([[0], np.cumsum(np.diff(key[order]) != 0)])
        if size == 0 or rank[order[-1]] == size - 1:
            return order.tolist(), _shared_lengths(ranks, order)
        ranks.append(rank)


def _shared_lengths(ranks: Sequence[NDArray[np.int64]], order: NDArray[np.int64]) -> list[int]:
    """From the ranks of what begins at each place and is 1, 2, 4, … labels long.

    No end of the list stands in what two places share: it is at another distance from each.
    """
    before, after = order[:-1], order[1:]
    lengths = np.zeros(len(after), np.int64)
    for level in reversed(range(len(ranks))):
        known = np.append(ranks[level], -1)  # nothing begins behind the end
        lengths += (known[before + lengths] == known[after + lengths]) << level
    return [0, *lengths.tolist()][: len(order)]


def repeated(lengths: Sequence[int]) -> Iterator[Repeated]:
    """Every length that some places share and more do not: the inner nodes of the suffix tree.

    Source: Abouelhoda et al. 2004, lcp-intervals.
    """
    stack: list[tuple[int, int]] = []
    for index, length in enumerate([*lengths[1:], 0], 1):
        first = index - 1
        while stack and stack[-1][0] > length:
            common, first = stack.pop()
            yield Repeated(common, first, index - 1)
        if length and (not stack or stack[-1][0] < length):
            stack.append((length, first))
