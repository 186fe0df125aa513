"""Everything there is, as long as it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from optimizer.memory.buffer import Buffer
from optimizer.memory.plan import peak_bytes
from optimizer.memory.registry import Budget, Placement, Planner, planner, planners

SEARCHES = {"local-search": 0.5, "exact": 1.0}
"""What goes on where the fast planners stay above the bound, and at which part of the budget
each has to be done."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    planner_id: str
    placement: Placement
    peak_bytes: int


@planner("best", "Best of all", order=90, speed="search")
def best(buffers: Sequence[Buffer], budget: Budget) -> Placement:
    """Try the fast planners, cleverest first, then the searches; keep the smallest plan.

    It stops at the first plan that needs no more than is alive at once, which on most networks is
    one of the fast planners' in milliseconds. The searches share the budget.

    Source: portfolios of policies as in InfiniTensor's OccamyPlanner and XLA's buffer assignment.
    """
    goal_bytes = budget.goal(buffers)
    winner: _Attempt | None = None
    prover = ""
    for attempt in _attempts(buffers, budget):
        if winner is None or attempt.peak_bytes < winner.peak_bytes:
            winner, prover = attempt, ""
        if attempt.placement.exhausted and attempt.peak_bytes == winner.peak_bytes:
            prover = attempt.planner_id
        if prover or winner.peak_bytes <= goal_bytes:
            break
    assert winner is not None
    proven = f", proven by {prover}" if prover not in ("", winner.planner_id) else ""
    note = f"Found by {winner.planner_id}{proven}."
    return Placement(winner.placement.offsets, exhausted=bool(prover), note=note)


def _attempts(buffers: Sequence[Buffer], budget: Budget) -> Iterator[_Attempt]:
    known = {found.id: found for found in reversed(planners())}
    for found in known.values():
        if found.speed == "fast":
            yield _attempt(found, buffers, budget)
    for planner_id, part in SEARCHES.items():
        if planner_id in known and not budget.spent:
            share = replace(budget, seconds=budget.seconds * part)
            yield _attempt(known[planner_id], buffers, share)


def _attempt(found: Planner, buffers: Sequence[Buffer], budget: Budget) -> _Attempt:
    placement = found.place(buffers, budget)
    return _Attempt(found.id, placement, peak_bytes(buffers, placement.offsets))
