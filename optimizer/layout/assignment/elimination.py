"""Any number of layouts: dynamic programming, one choice after the other left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from optimizer.elimination import Factor, least
from optimizer.layout.assignment.problem import Layout, LayoutAssignment, LayoutProblem

MOST_ENTRIES = 1 << 18
"""Of one table."""


def eliminate(problem: LayoutProblem) -> LayoutAssignment | None:
    """The cheapest assignment; None where a table would get too large."""
    domains: list[tuple[Layout, ...]] = [tuple(costs) for costs in problem.candidates]
    factors = _factors(problem, domains)
    sizes = [len(domain) for domain in domains]
    sizes += [2] * (max((max(f.scope) for f in factors), default=0) + 1 - len(sizes))
    chosen = least(factors, sizes, most=MOST_ENTRIES)
    if chosen is None:
        return None
    layouts = tuple(domain[chosen[index]] for index, domain in enumerate(domains))
    cost = problem.cost(layouts)
    return LayoutAssignment(layouts, cost, cost)


def _factors(problem: LayoutProblem, domains: Sequence[tuple[Layout, ...]]) -> list[Factor]:
    """Costs as tables over choices; a value with several readers has one more variable a layout."""
    found = [
        Factor((index,), np.array([*costs.values()], float))
        for index, costs in enumerate(problem.candidates)
    ]
    extra = len(domains)
    for flow in problem.flows:
        made = domains[flow.source]
        readers = [r for r in dict.fromkeys(flow.readers) if r != flow.source]
        if len(readers) == 1:
            costs = [[_cost(flow.costs, a, b) for b in domains[readers[0]]] for a in made]
            found.append(Factor((flow.source, readers[0]), np.array(costs)))
            continue
        for wanted in dict.fromkeys(one for reader in readers for one in domains[reader]):
            paid = [[0.0, _cost(flow.costs, one, wanted)] for one in made]
            found.append(Factor((flow.source, extra), np.array(paid)))
            for reader in (r for r in readers if wanted in domains[r]):
                needs = [[inf if one == wanted else 0.0, 0.0] for one in domains[reader]]
                found.append(Factor((reader, extra), np.array(needs)))
            extra += 1
    return found


def _cost(costs: Mapping[tuple[Layout, Layout], float], made: Layout, wanted: Layout) -> float:
    return 0.0 if made == wanted else costs[made, wanted]
