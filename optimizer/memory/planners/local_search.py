"""Better and better rankings for the planner that places the lowest first."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np

from optimizer.memory.buffer import Buffer
from optimizer.memory.lives import Column, Lives, lives_of
from optimizer.memory.planners.canonical import Descent, best_descent, descend_below
from optimizer.memory.registry import Budget, Placement, planner

_HEAT = 0.005
"""How much worse a step may be at first, as a part of the peak (in the exponent: e times rarer)."""

_NEIGHBOURS = 0.3
"""How often one that meets the pile goes first, not one of the pile."""

_FORWARD = 0.75
"""How often a buffer moves forward in the ranking; else anywhere."""


@planner("local-search", "Local search", order=60, speed="search")
def local_search(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Rank one buffer of the highest pile anew, place all again, keep what is not much worse.

    It starts with the best of the canonical planner. A pile is a buffer that ends at the peak, one
    that it lies on, and so on down to 0: only what changes a pile changes the peak. Worse plans are
    taken less and less often, none at the end of the budget. Stops at the bound or the goal.

    Source: simulated annealing (Kirkpatrick et al. 1983) over the canonical plans of Moffitt 2023;
    moves at the peak as in the hill climbing of TVM's unified static memory planner.
    """
    lives = lives_of(buffers)
    goal_bytes = budget.goal(buffers)
    best = now = best_descent(lives, goal_bytes)
    drawn = random.Random(0)  # noqa: S311 no secret; the same each time
    tried = 0
    heat_bytes = _HEAT * now.peak_bytes / max(budget.seconds, 1e-9)
    while best.peak_bytes > goal_bytes and (left := budget.seconds_left):
        tried += 1
        # Metropolis: accept an increase d with probability exp(-d / heat); the draw comes first,
        # so that a descent can end as soon as it is worse than what would be accepted
        worse_bytes = -heat_bytes * left * math.log(1.0 - drawn.random())
        ranked = _reranked(lives, now, drawn)
        found = descend_below(lives, ranked, now.peak_bytes + worse_bytes)
        if found is not None:
            now = found
            best = min(best, now, key=lambda descent: descent.peak_bytes)
    return Placement(best.offsets.tolist(), note=f"Rankings tried: {tried:,}.")


def _reranked(lives: Lives, now: Descent, drawn: random.Random) -> Column:
    """The ranking with one buffer moved."""
    moved = drawn.choice(_pile(lives, now, drawn))
    if drawn.random() < _NEIGHBOURS:
        moved = drawn.choice(np.flatnonzero(_meeting(lives, moved)).tolist())
    ranked = now.ranked
    at = int(np.flatnonzero(ranked == moved)[0])
    forward = at > 0 and drawn.random() < _FORWARD
    to = drawn.randrange(at if forward else len(ranked))
    return np.insert(np.delete(ranked, at), to, moved)


def _pile(lives: Lives, now: Descent, drawn: random.Random) -> list[int]:
    """A buffer that ends at the peak, one that it lies on, and so on down to 0."""
    tops = now.offsets + lives.sizes
    pile = [drawn.choice(np.flatnonzero(tops == now.peak_bytes).tolist())]
    while now.offsets[pile[-1]] > 0:
        below = _meeting(lives, pile[-1]) & (tops == now.offsets[pile[-1]])
        pile.append(drawn.choice(np.flatnonzero(below & (lives.sizes > 0)).tolist()))
    return pile


def _meeting(lives: Lives, index: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which buffers are alive together with this one, itself included."""
    return (lives.starts < lives.ends[index]) & (lives.ends > lives.starts[index])
