"""Planners that search: better rankings for the canonical planner, all plans, and all there is."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.live_intervals import Column, LiveIntervals, live_intervals
from optimizer.memory.plan import Plan, peak_bytes
from optimizer.memory.planners.canonical import Descent, best_descent, descend
from optimizer.memory.registry import Budget, Placement, make_plan, planner, planners
from optimizer.numbers import counted

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


@planner("exact", "Exact search", order=70, speed="search")
def exact(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Search among all plans for a smaller one, until every smaller plan is ruled out.

    It starts with the best of the canonical planner and does not search where that meets the bound.
    Otherwise one capacity after another is tried by a depth-first search over what can lie lowest:
    a section whose buffers cannot be stacked within the capacity is a dead end, states that led
    into dead ends are remembered, and searches that take long begin again in another order.

    Compiled when it first runs, which takes some ten seconds; then once and for all.

    Source: after Moffitt 2023, "MiniMalloc: A Lightweight Memory Allocator for
    Hardware-Accelerated Machine Learning"; what differs is told in `optimizer.memory.search`.
    """
    goal_bytes = budget.goal(buffers)
    offsets = best_descent(live_intervals(buffers), goal_bytes).offsets.tolist()
    alive = [at for at, one in enumerate(buffers) if one.steps > 0 and one.size_bytes > 0]
    peak = peak_bytes(buffers, offsets)
    if peak <= goal_bytes:
        met = peak == lower_bound(buffers)
        return Placement(offsets, exhausted=met, note="Nothing to search: the first plan will do.")
    began = time.monotonic()
    from optimizer.memory.search.restarts import minimum  # compiles: it is not the search's time

    budget = replace(budget, started=budget.started + time.monotonic() - began)
    try:
        found = minimum([buffers[at] for at in alive], [offsets[at] for at in alive], budget)
    except PlanError as error:
        return Placement(offsets, note=error.message)
    for at, offset in zip(alive, found.offsets, strict=True):
        offsets[at] = offset
    peak = peak_bytes(buffers, offsets)
    exhausted = found.ruled_out_bytes >= peak
    note = f"{counted(found.nodes, 'decision')}; no plan is below {found.ruled_out_bytes:,} bytes."
    return Placement(offsets, exhausted=exhausted, note=note)


SEARCHES = {"local-search": 0.5, "exact": 1.0}
"""What goes on where the fast planners stay above the bound, and at which part of the budget
each has to be done."""


@planner("best", "Best of all", order=90, speed="search")
def best(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Try the fast planners, cleverest first, then the searches; keep the smallest plan.

    It stops at the first plan that needs no more than is alive at once, which on most networks is
    one of the fast planners' in milliseconds. The searches share the budget.

    Source: portfolios of policies as in InfiniTensor's OccamyPlanner and XLA's buffer assignment.
    """
    goal_bytes = budget.goal(buffers)
    winner: Plan | None = None
    prover: Plan | None = None
    for plan in _plans(buffers, budget):
        if winner is None or plan.peak_bytes < winner.peak_bytes:
            winner, prover = plan, None
        if plan.certificate is not None and plan.peak_bytes == winner.peak_bytes:
            prover = plan
        if prover is not None or winner.peak_bytes <= goal_bytes:
            break
    assert winner is not None
    proven = f", proven by {prover.planner}" if prover is not None and prover is not winner else ""
    note = f"Found by {winner.planner}{proven}."
    return Placement(winner.offsets, exhausted=prover is not None, note=note)


def _plans(buffers: Sequence[Buffer], budget: Budget) -> Iterator[Plan]:
    for found in reversed(planners()):
        if found.speed == "fast":
            yield make_plan(found.id, buffers, budget)
    for planner_id, part in SEARCHES.items():
        if not budget.spent:
            yield make_plan(planner_id, buffers, replace(budget, seconds=budget.seconds * part))
