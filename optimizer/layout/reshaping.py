"""Which axes of a tensor became which when it was given another shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

Axes = tuple[int, ...]


def groups(before: Sequence[int], after: Sequence[int]) -> Iterator[tuple[Axes, Axes]]:
    """The smallest runs of axes that hold the same elements, in order.

    Equal sizes at both ends are taken as the same axes; between them an axis of one element goes
    with what stands before it.

    Args:
        before: a shape.
        after: one of as many elements, none of them 0.
    """
    head = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))))
    least = min(len(before), len(after)) - head
    ends = zip(reversed(before), reversed(after), strict=False)
    tail = min(least, len(list(takewhile(lambda pair: pair[0] == pair[1], ends))))
    yield from (((axis,), (axis,)) for axis in range(head))
    yield from _between(before, after, head, tail)
    for place in range(-tail, 0):
        yield (len(before) + place,), (len(after) + place,)


def _between(
    before: Sequence[int], after: Sequence[int], head: int, tail: int
) -> Iterator[tuple[Axes, Axes]]:
    first, second = head, head
    last, end = len(before) - tail, len(after) - tail
    while first < last or second < end:
        start, begin, left, right = first, second, 1, 1
        while first < last or second < end:
            if first < last and (left <= right or second == end):
                left, first = left * before[first], first + 1
            else:
                right, second = right * after[second], second + 1
            if left == right and first > start and second > begin:
                break
        yield tuple(range(start, first)), tuple(range(begin, second))
