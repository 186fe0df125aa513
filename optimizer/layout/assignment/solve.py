"""The cheapest assignment, by the method that proves it soonest."""

from __future__ import annotations

from optimizer.layout.assignment.elimination import eliminate
from optimizer.layout.assignment.minimum_cut import minimum_cut
from optimizer.layout.assignment.problem import LayoutAssignment, LayoutProblem
from optimizer.layout.assignment.search import branch_and_bound

BUDGET = 50_000
"""Partial assignments that the search looks at."""


def solve(problem: LayoutProblem, *, budget: int = BUDGET) -> LayoutAssignment:
    """The cheapest assignment, or the best within the budget; its certificate says which.

    Two layouts are a minimum cut, which is exact for any graph; more are a dynamic program where
    its tables stay small, and otherwise searched.
    """
    layouts = [*dict.fromkeys(layout for costs in problem.candidates for layout in costs)]
    if len(layouts) == 1:
        cost = problem.cost(only := tuple(layouts * len(problem.candidates)))
        return LayoutAssignment(only, cost, cost)
    if len(layouts) == 2:
        return minimum_cut(problem, *layouts)
    return eliminate(problem) or branch_and_bound(problem, budget)
