"""The least of a sum of tables: one variable after the other is left out.

On chains and trees this is the usual dynamic program; where ways meet again the tables grow with
what is open at once. Source: Bertele and Brioschi 1972, Nonserial Dynamic Programming.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factor:
    """What some variables cost together: an axis of the table for each of them."""

    scope: tuple[int, ...]
    table: Table


def least(factors: Iterable[Factor], sizes: Sequence[int], *, most: int) -> list[int] | None:
    """A choice for each variable, so that all tables together are least.

    Of choices that are as good the first one is taken.

    Args:
        factors: the tables.
        sizes: how many choices each variable has.
        most: entries that one table may get.

    Returns: None where a table would get larger.
    """
    steps = _forward(factors, sizes, most)
    if steps is None:
        return None
    chosen = [0] * len(sizes)
    for variable, joined in reversed(steps):
        place = tuple(slice(None) if v == variable else chosen[v] for v in joined.scope)
        chosen[variable] = int(np.argmin(joined.table[place]))
    return chosen


def _forward(
    factors: Iterable[Factor], sizes: Sequence[int], most: int
) -> list[tuple[int, Factor]] | None:
    """Leave out the variable with the fewest neighbours, again and again.

    The heap has for each variable what it depends on at least: one less with every neighbour that
    goes. Counting it anew each time would take a variable of many neighbours squared time.

    Returns: each with the table over it and its neighbours at that time.
    """
    tables = _Tables(factors, sizes)
    widths = [len(tables.scope(variable)) for variable in range(len(sizes))]
    heap = [(width, variable) for variable, width in enumerate(widths)]
    heapq.heapify(heap)
    steps: list[tuple[int, Factor]] = []
    while heap:
        width, variable = heapq.heappop(heap)
        if variable not in tables.around:
            continue
        scope = tables.scope(variable)
        if len(scope) > width:
            widths[variable] = len(scope)
            heapq.heappush(heap, (len(scope), variable))
        elif prod(sizes[v] for v in scope) > most:
            return None
        else:
            steps.append((variable, tables.leave_out(variable)))
            for other in scope[1:]:
                widths[other] -= 1
                heapq.heappush(heap, (widths[other], other))
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
