"""Any number of layouts: dynamic programming, one choice after the other left out.

On chains and trees this is the usual dynamic program; where ways meet again the tables grow with
what is open at once. Source: Bertele and Brioschi 1972, Nonserial Dynamic Programming.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from optimizer.layout.assignment.problem import Layout, LayoutAssignment, LayoutProblem

MOST_ENTRIES = 1 << 18
"""Of one table."""

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factor:
    """What some variables cost together: an axis of the table for each of them."""

    scope: tuple[int, ...]
    table: Table


def eliminate(problem: LayoutProblem) -> LayoutAssignment | None:
    """The cheapest assignment; None where a table would get too large."""
    domains: list[tuple[Layout, ...]] = [tuple(costs) for costs in problem.candidates]
    factors = _factors(problem, domains)
    sizes = [len(domain) for domain in domains]
    sizes += [2] * (max((max(f.scope) for f in factors), default=0) + 1 - len(sizes))
    steps = _forward(factors, sizes)
    if steps is None:
        return None
    chosen: dict[int, int] = {}
    for variable, joined in reversed(steps):
        place = tuple(slice(None) if v == variable else chosen[v] for v in joined.scope)
        chosen[variable] = int(np.argmin(joined.table[place]))
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


def _forward(factors: Iterable[Factor], sizes: Sequence[int]) -> list[tuple[int, Factor]] | None:
    """Leave out the variable with the fewest neighbours, again and again.

    Returns: each with the table over it and its neighbours at that time.
    """
    tables = _Tables(factors, sizes)
    heap = [(len(tables.scope(variable)), variable) for variable in range(len(sizes))]
    heapq.heapify(heap)
    steps: list[tuple[int, Factor]] = []
    while heap:
        width, variable = heapq.heappop(heap)
        if variable not in tables.around:
            continue
        scope = tables.scope(variable)
        if len(scope) > width:
            heapq.heappush(heap, (len(scope), variable))
        elif prod(sizes[v] for v in scope) > MOST_ENTRIES:
            return None
        else:
            steps.append((variable, tables.leave_out(variable)))
            for other in scope[1:]:
                heapq.heappush(heap, (len(tables.scope(other)), other))
    return steps


class _Tables:
    """Factors by the variables that are still there, with a number each."""

    def __init__(self, factors: Iterable[Factor], sizes: Sequence[int]) -> None:
        self.around: dict[int, dict[int, Factor]] = {v: {} for v in range(len(sizes))}
        self._sizes = sizes
        self._count = 0
        for factor in factors:
            self._add(factor)

    def scope(self, variable: int) -> tuple[int, ...]:
        """The variable, then its neighbours."""
        factors = self.around[variable].values()
        return tuple(dict.fromkeys([variable, *(v for f in factors for v in f.scope)]))

    def leave_out(self, variable: int) -> Factor:
        """What everything with the variable costs; what is left is the least over it."""
        scope = self.scope(variable)
        factors = self.around.pop(variable)
        joined = _joined(factors.values(), scope, self._sizes)
        for number, factor in factors.items():
            for other in factor.scope:
                if other != variable:
                    del self.around[other][number]
        self._add(Factor(scope[1:], joined.min(axis=0)))
        return Factor(scope, joined)

    def _add(self, factor: Factor) -> None:
        for variable in factor.scope:
            self.around[variable][self._count] = factor
        self._count += 1


def _joined(factors: Iterable[Factor], scope: Sequence[int], sizes: Sequence[int]) -> Table:
    """The sum of tables over all variables of a scope."""
    total = np.zeros([sizes[v] for v in scope])
    for factor in factors:
        order = sorted(range(len(factor.scope)), key=lambda axis: scope.index(factor.scope[axis]))
        shape = [sizes[v] if v in factor.scope else 1 for v in scope]
        total += factor.table.transpose(order).reshape(shape)
    return total
