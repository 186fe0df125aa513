"""Assignments cost as little as the cheapest of all, and say so only when they do."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import product

import pytest

from optimizer.layout.assignment.elimination import eliminate
from optimizer.layout.assignment.minimum_cut import minimum_cut
from optimizer.layout.assignment.problem import Flow, LayoutAssignment, LayoutProblem
from optimizer.layout.assignment.search import branch_and_bound
from optimizer.layout.assignment.solve import solve

LAYOUTS = ("NCHW", "NHWC", "NC1HWC0")


def random_problem(seed: int, layouts: int) -> LayoutProblem:
    """Up to seven choices, with values that several read and layouts that some lack."""
    draw = random.Random(seed)
    names = LAYOUTS[:layouts]
    count = draw.randint(1, 7)
    candidates = [
        {name: draw.randint(0, 9) / 2 for name in draw.sample(names, draw.randint(1, layouts))}
        for _ in range(count)
    ]
    flows: list[Flow] = []
    for source in range(count - 1):
        later = range(source + 1, count)
        readers = tuple(draw.choice(later) for _ in range(draw.randint(0, 3)))
        costs = {(a, b): draw.randint(0, 7) / 2 for a in names for b in names if a != b}
        flows.append(Flow(source, readers, costs))
    return LayoutProblem(tuple(candidates), tuple(flows))


def brute_force(problem: LayoutProblem) -> float:
    return min(problem.cost(layouts) for layouts in product(*problem.candidates))


@pytest.mark.parametrize("layouts", [2, 3])
def test_two_hundred_random_graphs_cost_what_brute_force_finds(layouts: int) -> None:
    for seed in range(200):
        problem = random_problem(seed, layouts)
        found = solve(problem)
        assert found.cost == problem.cost(found.layouts), seed
        assert found.cost == pytest.approx(brute_force(problem)), seed
        assert found.exact


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(eliminate, id="tables"),
        pytest.param(partial(branch_and_bound, budget=10_000), id="search"),
    ],
)
def test_each_method_by_itself_finds_the_cheapest(
    method: Callable[[LayoutProblem], LayoutAssignment | None],
) -> None:
    for seed in range(200, 300):
        problem = random_problem(seed, 3)
        found = method(problem)
        assert found is not None
        assert found.cost == pytest.approx(brute_force(problem)), seed


def test_a_value_is_converted_once_for_all_that_take_it_alike() -> None:
    costs = {("NCHW", "NHWC"): 3.0, ("NHWC", "NCHW"): 3.0}
    source: dict[str, float] = {"NCHW": 0.0}
    reader: dict[str, float] = {"NCHW": 2.0, "NHWC": 0.0}
    problem = LayoutProblem((source, reader, reader), (Flow(0, (1, 2), costs),))
    found = minimum_cut(problem, "NCHW", "NHWC")
    assert found.layouts == ("NCHW", "NHWC", "NHWC")
    assert found.cost == 3.0
    assert problem.flows[0].converted(found.layouts) == ("NHWC",)


def test_a_search_without_budget_tells_how_far_it_may_be_off() -> None:
    gaps = 0
    for seed in range(60):
        problem = random_problem(seed, 3)
        found = branch_and_bound(problem, 2)
        least = brute_force(problem)
        assert found.bound <= least + 1e-9 <= found.cost + 2e-9
        gaps += not found.exact
        assert found.exact == (found.certificate == "exact")
    assert gaps


def test_a_tangle_of_many_choices_is_solved_within_tables_or_bounded() -> None:
    draw = random.Random(1)
    names = LAYOUTS
    costs = {(a, b): 1.0 + len(a) / 10 for a in names for b in names if a != b}
    candidates = tuple({name: draw.random() * 4 for name in names} for _ in range(40))
    flows = tuple(
        Flow(i, tuple(draw.sample(range(i + 1, 40), min(39 - i, 6))), costs) for i in range(39)
    )
    found = solve(LayoutProblem(candidates, flows), budget=200)
    assert found.bound <= found.cost
    assert ("above" in found.certificate) != found.exact
