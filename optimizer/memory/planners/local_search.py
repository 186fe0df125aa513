"""Better and better rankings for the planner that places the lowest first."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optimizer.memory.buffer import Buffer
from optimizer.memory.live_intervals import Column, LiveIntervals, live_intervals
from optimizer.memory.planners.canonical import Descent, best_descent, descend
from optimizer.memory.registry import Budget, Placement, planner

Mask = NDArray[np.bool_]

_HEAT = 0.005
"""How much worse a step may be at first, as a part of the peak (in the exponent: e times rarer)."""

_FORWARD = 0.9
"""How often a buffer moves to the front of one that was placed before it; else of any it meets."""

_UNDER = 0.75
"""How often to the front of one that lies lower."""


@planner("local-search", "Local search", order=60, speed="search")
def local_search(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Rank a buffer of the highest pile before another, place all anew, keep what is not worse.

    It starts with the best of the canonical planner. A pile is a buffer that ends at the peak, one
    that it lies on, and so on down to 0: only what changes a pile changes the peak. Somewhat worse
    plans are taken too, less and less often, none at the end of the budget. It stops at the bound
    or the goal.

    Source: simulated annealing (Kirkpatrick et al. 1983) over the canonical plans of Moffitt 2023;
    moves at the peak as in the hill climbing of TVM's unified static memory planner.
    """
    intervals = live_intervals(buffers)
    goal_bytes = budget.goal(buffers)
    best = now = best_descent(intervals, goal_bytes)
    drawn = random.Random(budget.seed)  # noqa: S311 no secret
    tried = 0
    heat_bytes = _HEAT * now.peak_bytes / max(budget.seconds, 1e-9)
    while best.peak_bytes > goal_bytes and (left := budget.seconds_left):
        tried += 1
        # Metropolis: accept an increase d with probability exp(-d / heat); the draw comes first,
        # so that a descent can end as soon as it is worse than what would be accepted
        worse_bytes = -heat_bytes * left * math.log(1.0 - drawn.random())
        ranked = _reranked(intervals, now, drawn)
        found = descend(intervals, ranked, now.peak_bytes + worse_bytes)
        if found is not None:
            now = found
            best = min(best, now, key=lambda descent: descent.peak_bytes)
    return Placement(best.offsets.tolist(), note=f"Rankings tried: {tried:,}.")


def _reranked(intervals: LiveIntervals, now: Descent, drawn: random.Random) -> Column:
    """The ranking with a buffer of a pile before one that it meets: only those compete."""
    moved = drawn.choice(_pile(intervals, now, drawn))
    rivals = _meeting(intervals, moved)
    rivals[moved] = False
    at = int(np.flatnonzero(now.ranked == moved)[0])
    earlier = np.zeros(len(rivals), bool)
    earlier[now.ranked[:at]] = True
    if drawn.random() < _UNDER:
        rivals = _narrowed(rivals, now.offsets < now.offsets[moved])
    if drawn.random() < _FORWARD:
        rivals = _narrowed(rivals, earlier)
    if not rivals.any():
        return now.ranked
    rival = drawn.choice(np.flatnonzero(rivals).tolist())
    others = np.delete(now.ranked, at)
    return np.insert(others, int(np.flatnonzero(others == rival)[0]), moved)


def _narrowed(mask: Mask, also: Mask) -> Mask:
    """Both, where that leaves any."""
    both = mask & also
    return both if both.any() else mask


def _pile(intervals: LiveIntervals, now: Descent, drawn: random.Random) -> list[int]:
    """A buffer that ends at the peak, one that it lies on, and so on down to 0."""
    tops = now.offsets + intervals.sizes
    pile = [drawn.choice(np.flatnonzero(tops == now.peak_bytes).tolist())]
    while now.offsets[pile[-1]] > 0:
        below = _meeting(intervals, pile[-1]) & (tops == now.offsets[pile[-1]])
        pile.append(drawn.choice(np.flatnonzero(below & (intervals.sizes > 0)).tolist()))
    return pile


def _meeting(intervals: LiveIntervals, index: int) -> Mask:
    """Which buffers are alive together with this one, itself included."""
    return (intervals.starts < intervals.ends[index]) & (intervals.ends > intervals.starts[index])
