"""Boxes of tensors: of each axis the least and the greatest place, in each round of loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.schedules.intervals import Array, Interval, hull, terms_interval
from optimizer.schedules.places import Terms
from optimizer.schedules.rounds import Samples, ranked

Box = tuple[Interval, ...]
"""One interval for each axis, the outermost first; arrays have one axis for each loop around."""
_NOWHERE = -(1 << 60)


def whole_box(shape: Sequence[int], rank: int) -> Box:
    """All of a tensor."""
    ends = [(np.asarray(0), np.asarray(size - 1)) for size in shape]
    return tuple((ranked(low, rank), ranked(high, rank)) for low, high in ends)


def place_interval(
    span: Mapping[Terms, tuple[int, int]], variables: Mapping[str, Interval], size: int, rank: int
) -> Interval:
    """Places that an axis has: others are read under a condition, or not at all."""
    found: list[Interval] = []
    for terms, (least, most) in span.items():
        ends = terms_interval(terms, variables)
        low, high = (np.asarray(0), np.asarray(size - 1)) if ends is None else ends
        found.append((low + least, high + most) if ends is not None else (low, high))
    low, high = reduce(hull, found)
    held = (ranked(np.clip(one, 0, max(size - 1, 0)), rank) for one in (low, high))
    return next(held), next(held)


def hull_over(ends: Interval, rank: int) -> Interval:
    """The hull over loops inside of the first so many."""
    if rank == ends[0].ndim:
        return ends
    inner = tuple(range(rank, ends[0].ndim))
    low, high = np.broadcast_arrays(*ends)
    return low.min(axis=inner), high.max(axis=inner)


def box_hull(one: Box, other: Box) -> Box:
    """The least box around two."""
    return tuple(hull(a, b) for a, b in zip(one, other, strict=True))


def along(values: NDArray[np.generic], at: int, rank: int) -> Array:
    """Values of one loop, as an array with an axis for each."""
    shape = [1] * rank
    shape[at] = -1
    found: Any = values.reshape(shape)
    return found


def moves(array: Array, at: int) -> bool:
    """Whether it changes from round to round of a loop."""
    return array.shape[at] > 1 and bool(np.any(np.diff(array, axis=at)))


def ascends(array: Array, at: int) -> bool:
    """Whether it never becomes less from round to round of a loop."""
    return bool(np.all(np.diff(array, axis=at) >= 0))


def computed_before(high: Array, at: int, inner: Sequence[int], samples: Samples) -> Array:
    """Up to where the round before has computed; nowhere for the first."""
    last = high.max(axis=tuple(inner), keepdims=True) if inner else high
    if last.shape[at] == 1:
        return np.full_like(last, _NOWHERE)
    found = np.roll(last, 1, axis=at)
    follows = np.diff(samples.indices, prepend=-2) == 1
    return np.where(along(follows, at, high.ndim), found, _NOWHERE)


def sharing_groups(used: Sequence[set[int]]) -> list[tuple[set[int], list[int]]]:
    """Arrays that share axes, and the axes: what does not share any can be summed on its own."""
    groups: list[tuple[set[int], list[int]]] = []
    for number, axes in enumerate(used):
        joined = [one for one in groups if one[0] & axes]
        merged = set(axes).union(*(one[0] for one in joined))
        members = [number, *(other for one in joined for other in one[1])]
        groups = [one for one in groups if one not in joined]
        groups.append((merged, members))
    return groups
