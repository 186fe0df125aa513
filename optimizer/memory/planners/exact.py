"""The smallest plan, and the proof that it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from optimizer.errors import PlanError
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.live_intervals import live_intervals
from optimizer.memory.plan import peak_bytes
from optimizer.memory.planners.canonical import best_descent
from optimizer.memory.registry import Budget, Placement, planner
from optimizer.numbers import counted


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
