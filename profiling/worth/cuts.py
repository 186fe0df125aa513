"""Where to cut a trace: few points that tell most."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from profiling.worth.levels import Span


def first_cuts(boundaries: Sequence[int], most: int) -> tuple[int, ...]:
    """The pass boundaries; where they are too many, some of them, evenly spread over the steps.

    Args:
        boundaries: step 0 first, the last step last.
        most: at least 2.
    """
    if len(boundaries) <= most:
        return tuple(boundaries)
    ends = {boundaries[0], boundaries[-1]}
    inner = [b for b in boundaries if b not in ends]
    step = (boundaries[-1] - boundaries[0]) / (most - 1)
    for number in range(1, most - 1):
        wanted = boundaries[0] + number * step
        nearest = min(inner, key=lambda b: abs(b - wanted))
        inner.remove(nearest)
        ends.add(nearest)
    return tuple(sorted(ends))


def next_cuts(
    segments: Sequence[tuple[Span, float]], boundaries: Sequence[int], most: int
) -> tuple[int, ...]:
    """Points for another race: the strongest segments with cuts inside them.

    The strongest piece is halved until there are enough points, at a pass boundary where one lies
    inside; a half is expected to be half as strong until it is measured.

    Args:
        segments: that differ clearly, with how much; single steps are passed over.
        boundaries: between passes, the first and the last point first and last.
        most: points.

    Returns:
        The points with the ends of the trace; empty if there is nothing to cut or no room for it.
    """
    chosen = {boundaries[0], boundaries[-1]}
    cut = False
    pieces = [(-abs(strength), span) for span, strength in segments if span[1] - span[0] > 1]
    heapq.heapify(pieces)
    while pieces:
        strength, (first, last) = heapq.heappop(pieces)
        middle = _middle(first, last, boundaries)
        wanted = chosen | {first, middle, last}
        if len(wanted) > most:
            continue
        chosen, cut = wanted, True
        for span in ((first, middle), (middle, last)):
            if span[1] - span[0] > 1:
                heapq.heappush(pieces, (strength / 2, span))
    return tuple(sorted(chosen)) if cut else ()


def _middle(first: int, last: int, boundaries: Sequence[int]) -> int:
    half = (first + last) / 2
    inside = [boundary for boundary in boundaries if first < boundary < last]
    if inside:
        return min(inside, key=lambda boundary: abs(boundary - half))
    return (first + last) // 2
