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


def suffix_array(labels: Sequence[int]) -> NDArray[np.int64]:
    """The places of a list in the order of what begins there.

    Source: Manber and Myers 1993, by prefix doubling.
    """
    rank = np.unique(np.asarray(labels, np.int64), return_inverse=True)[1].astype(np.int64)
    size, step = len(rank), 1
    while True:
        following = np.zeros(size, np.int64)
        following[: size - step] = rank[step:] + 1
        key = rank * (size + 1) + following
        order = np.argsort(key, kind="stable")
        rank = np.empty(size, np.int64)
        rank[order] = np.concatenate([[0], np.cumsum(np.diff(key[order]) != 0)])
        if size == 0 or rank[order[-1]] == size - 1:
            return order
        step *= 2


def shared_lengths(labels: Sequence[int], order: NDArray[np.int64]) -> list[int]:
    """How many labels each suffix shares with the one before it in the array.

    Source: Kasai et al. 2001.
    """
    size, listed = len(labels), order.tolist()
    rank = [0] * size
    for index, place in enumerate(listed):
        rank[place] = index
    lengths, common = [0] * size, 0
    for place in range(size):
        if not rank[place]:
            common = 0
            continue
        other = listed[rank[place] - 1]
        most = size - max(place, other)
        while common < most and labels[place + common] == labels[other + common]:
            common += 1
        lengths[rank[place]] = common
        common = max(common - 1, 0)
    return lengths


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
