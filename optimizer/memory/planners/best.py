"""Everything there is, as long as it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from optimizer.memory.buffer import Buffer
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, Placement, make_plan, planner, planners

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
